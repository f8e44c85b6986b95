// Uses the methods of contrib/clients/t4a.ts.

import { strict as assert } from "node:assert";
import { T4a, T4aError } from "../../contrib/clients/t4a.js";

async function commands(t4a: T4a): Promise<void> {
  const { commands } = await t4a.hello();
  for (const name of commands) assert.equal(typeof (t4a as any)[name], "function", name);
  const { id } = await t4a.create({ cmd_args: ["bash"], env: { PS1: "$ " }, cols: 60, rows: 8, ready: true });
  const ran = await t4a.run({ id, command: "echo one; (exit 4)" });
  assert.deepEqual([ran.code, ran.lines], [4, ["one"]]);
  // Side by side: each answer finds its request, and pictures their bytes.
  const [look, shot, text, svg] = await Promise.all([
    t4a.look({ id }), t4a.screenshot({ id }), t4a.text({ id }), t4a.screenshot({ id, format: "svg" }),
  ]);
  assert.equal(look.state, "at_prompt");
  assert.equal(shot.data.toString("latin1", 1, 4), "PNG");
  assert.equal(shot.data.length, shot.info.len);
  assert.ok(text.lines.includes("one"));
  assert.ok(svg.data.toString().startsWith("<svg"));
  const { seq } = await t4a.send({ id, input: "echo typed\n" });
  const done = await t4a.wait({ id, any: [{ event: "command_done" }], after: seq });
  assert.equal(done.found?.code, 0);
  await assert.rejects(t4a.cursor({ id: "nobody" }), (error: unknown) => error instanceof T4aError && error.code === "not_found");
  await streams(t4a, id);
  await t4a.kill({ id });
  assert.deepEqual(await t4a.list(), []);
  assert.deepEqual(await t4a.list({ dead: true }), []);
  await assert.rejects(t4a.restore({ id }), (error: unknown) => error instanceof T4aError && error.code === "not_found");
}

async function streams(t4a: T4a, id: string): Promise<void> {
  const seen: number[] = [];
  for await (const event of await t4a.events({ terminal: id, types: ["command_done"], since: 0 })) {
    seen.push(event.code);
    if (seen.length === 2) break;
  }
  assert.deepEqual(seen, [4, 0]);
  const refused = await t4a.events({ terminal: "nobody" });
  await assert.rejects(refused.next(), T4aError);
  const cast = await t4a.recordStream({ id });
  assert.equal((await cast.next()).value.id, id);
  assert.ok((await cast.next()).value.data.includes('"version"'));
  cast.close();
  const view = await t4a.attach({ id, role: "view", name: "ts" });
  const first = await view.next();
  assert.equal(first.value.full, true);
  assert.equal((await t4a.view(view, { role: "edit" })).role, "edit");
  await view.keys(["x"]);
  await t4a.detach(view);
  view.close();
}

async function main(): Promise<void> {
  const t4a = await T4a.connect();
  await commands(t4a);
  t4a.close();
  await assert.rejects(t4a.hello());
  console.log("all is well");
}

main().catch((error) => { console.error(error); process.exitCode = 1; });
