/**
 * Tools in the shape of Vercel's AI SDK: an object of { description, inputSchema, execute }. With the SDK, give it to
 * `generateText({ model, tools, stopWhen })`, each in `tool(…)` and the schema in `jsonSchema(…)`.
 * Here `generateText` is a loop around a scripted model, so that this runs without a network.
 */

import { T4a, type Json } from "../t4a.js";

interface Tool { description: string; inputSchema: Json; execute: (input: any) => Promise<unknown> }

function terminalTools(t4a: T4a, id: string): Record<string, Tool> {
  const text = { type: "string" };
  return {
    run: {
      description: "Run a command in the shell: its exit code and output.",
      inputSchema: { type: "object", properties: { command: text }, required: ["command"] },
      execute: async ({ command }: { command: string }) => {
        const { code, lines, timed_out } = await t4a.run({ id, command, timeout_ms: 30_000, max_lines: 80 });
        return { done: !timed_out, code, output: lines.join("\n") };
      },
    },
    waitFor: {
      description: "Wait until a text is on the screen.",
      inputSchema: { type: "object", properties: { text }, required: ["text"] },
      execute: async ({ text }: { text: string }) => {
        const { timed_out } = await t4a.wait({ id, any: [{ text }], timeout_ms: 10_000 });
        return { done: !timed_out };
      },
    },
  };
}

/** The calls that a model makes, given the results so far; null: it is done. */
function scriptedModel(results: Json[]): { toolName: string; input: Json } | null {
  if (results.length === 0) return { toolName: "run", input: { command: "(sleep 0.2; echo la''ter) & echo now" } };
  if (results.length === 1) return { toolName: "waitFor", input: { text: "later" } };
  return null;
}

async function generateText(tools: Record<string, Tool>): Promise<Json[]> {
  const results: Json[] = [];
  for (let call = scriptedModel(results); call; call = scriptedModel(results)) {
    results.push((await tools[call.toolName].execute(call.input)) as Json);
  }
  return results;
}

async function main(): Promise<void> {
  const t4a = await T4a.connect();
  const { id } = await t4a.create({ cmd_args: ["bash"], ready: true });
  const events = await t4a.events({ terminal: id, types: ["command_done"], since: 0 });
  const [ran, waited] = await generateText(terminalTools(t4a, id));
  for await (const event of events) {
    console.log(`${event.event} with code ${event.code}, as told by ${ran.code}; later: ${waited.done}`);
    break;
  }
  await t4a.kill({ id });
  t4a.close();
}

main().catch((error) => { console.error(error); process.exitCode = 1; });
