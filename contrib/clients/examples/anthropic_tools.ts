/**
 * An agent loop with tool use in the shape of Anthropic's messages, with a picture of the screen.
 * `scriptedModel` answers as `client.messages.create(…)` does, so that this runs without a network.
 */

import { T4a, T4aError, type Json } from "../t4a.js";

const TOOLS = [
  { name: "run", description: "Run a command in the shell: its exit code and output.",
    input_schema: { type: "object", properties: { command: { type: "string" } }, required: ["command"] } },
  { name: "look", description: "See a picture of the screen.", input_schema: { type: "object", properties: {} } },
];

async function useTool(t4a: T4a, id: string, use: Json): Promise<Json> {
  const result = { type: "tool_result", tool_use_id: use.id };
  try {
    if (use.name === "run") {
      const ran = await t4a.run({ id, command: use.input.command, timeout_ms: 30_000, max_lines: 80 });
      return { ...result, content: [{ type: "text", text: [`exit code ${ran.code}`, ...ran.lines].join("\n") }] };
    }
    const { data } = await t4a.screenshot({ id, max_tokens: 800 });
    const source = { type: "base64", media_type: "image/png", data: data.toString("base64") };
    return { ...result, content: [{ type: "image", source }] };
  } catch (error) {
    if (!(error instanceof T4aError)) throw error;
    return { ...result, is_error: true, content: [{ type: "text", text: error.message }] };
  }
}

function scriptedModel(messages: Json[], tools: Json[]): Json {
  const use = (name: string, input: Json) => {
    if (!tools.some((tool) => tool.name === name)) throw new Error(`no tool ${name}`);
    const block = { type: "tool_use", id: `toolu_${messages.length}`, name, input };
    return { stop_reason: "tool_use", content: [block] };
  };
  const results = messages.filter(({ role }) => role === "user").flatMap(({ content }) => content)
    .filter(({ type }) => type === "tool_result");
  if (results.length === 0) return use("run", { command: "printf 'x\\ny\\n' | wc -l; (exit 3)" });
  if (results.length === 1) return use("look", {});
  const png = Buffer.from(results[1].content[0].source.data, "base64");
  if (png.toString("latin1", 1, 4) !== "PNG") throw new Error("that is no picture");
  const [code, lines] = results[0].content[0].text.split("\n");
  return { stop_reason: "end_turn", content: [{ type: "text", text: `${lines.trim()} lines, ${code}, and a picture` }] };
}

async function agent(t4a: T4a, task: string): Promise<string> {
  const { id } = await t4a.create({ cmd_args: ["bash"], ready: true });
  try {
    const messages: Json[] = [{ role: "user", content: [{ type: "text", text: task }] }];
    for (let step = 0; step < 20; step++) {
      const answer = scriptedModel(messages, TOOLS);
      messages.push({ role: "assistant", content: answer.content });
      if (answer.stop_reason !== "tool_use") return answer.content[0].text;
      const uses = answer.content.filter(({ type }: Json) => type === "tool_use");
      const content = await Promise.all(uses.map((use: Json) => useTool(t4a, id, use)));
      messages.push({ role: "user", content });
    }
    return "it takes too many steps";
  } finally {
    await t4a.kill({ id });
  }
}

async function main(): Promise<void> {
  const t4a = await T4a.connect();
  console.log(await agent(t4a, "Count two lines and look at the screen."));
  t4a.close();
}

main().catch((error) => { console.error(error); process.exitCode = 1; });
