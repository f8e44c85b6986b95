/**
 * A client for t4a: one file, Node's standard library only. Copy it beside your code.
 *
 *     const t4a = await T4a.connect();
 *     const { id } = await t4a.create({ cmd_args: ["bash"], ready: true });
 *     const ran = await t4a.run({ id, command: "make test" });
 *     console.log(ran.code, ran.lines);
 *     const { data } = await t4a.screenshot({ id });
 *     await t4a.kill({ id });
 *     t4a.close();
 *
 * Each command of PROTOCOL.md is a method of the same name that takes the command's fields. A refusal
 * is a T4aError with the server's `code`. Requests may be under way side by side.
 */

import { execFile } from "node:child_process";
import { connect as connectSocket, type Socket } from "node:net";

export type Json = { [name: string]: any };
/** A key's name, or all that a keyboard tells of it. */
export type Key = string | { key: string; kind?: "press" | "repeat" | "release"; text?: string };

export interface Create {
  cols?: number; rows?: number; cmd_args?: string[]; cwd?: string; env?: Record<string, string>;
  inherit_env?: boolean; name?: string; labels?: Record<string, string>; ready?: boolean;
  shell_integration?: boolean; idle_timeout_ms?: number; persist?: boolean; take_over?: "allowed" | "refused" | "needed";
  scrollback_lines?: number; record?: { path: string; format?: RecordFormat; input?: boolean };
}
export type RecordFormat = "v2" | "v3" | "json" | "python" | "cli";
export interface Created { id: string; cols: number; rows: number; pid: number; name?: string; seq: number; ready?: boolean }
export interface Run { id: string; command: string; timeout_ms?: number; max_lines?: number; until?: string; idle_ms?: number }
export interface Ran {
  id: string; code: number | null; duration_ms: number; cwd: string | null;
  ended_by: "shell" | "until" | "idle" | "exit" | "timeout"; timed_out: boolean; lines: string[];
  output_lines: [number, number]; left_out?: { at: number; count: number; lines: [number, number] };
  seq: number; screen?: string[]; exit_code?: number;
}
export interface Condition {
  event?: string; where?: Json; text?: string; regex?: string; ignore_case?: boolean; new?: boolean;
  since?: number; region?: Json; gone?: boolean; cursor?: { row?: number; col?: number };
  settled_ms?: number; idle_ms?: number; idle?: true; prompt?: true; exit?: true; input?: true; password?: true;
}
export interface Wait {
  id: string; any: Condition[]; after?: number; timeout_ms?: number;
  then?: ("text" | "screenshot" | "info" | "look")[];
}
export interface Waited extends Json { id: string; met: number | null; condition?: string; found?: Json; timed_out: boolean; waited_ms: number; seq: number; stamp: number }
export interface Look { id: string; since?: number; max_tokens?: number; screenshot?: boolean }
export interface Looked extends Json {
  state: "at_prompt" | "running" | "waiting_for_input" | "password" | "full_screen" | "exited";
  lines: { row: number; text: string }[]; stamp: number; seq: number;
}
export interface Send { id: string; input?: string; input_base64?: string; when_ready?: boolean; secret?: boolean }
export interface Typed { seq: number; stamp: number }
export interface Keys { id?: string; view?: number; keys: Key[]; when_ready?: boolean }
export interface Paste { id?: string; view?: number; text: string; when_ready?: boolean }
export interface Mouse {
  id?: string; view?: number; kind: string; row?: number; col?: number; text?: string; nth?: number;
  button?: "left" | "middle" | "right"; mods?: ("Ctrl" | "Alt" | "Shift")[];
}
export interface Screenshot {
  id: string; format?: "png" | "svg" | "html" | "ansi" | "text" | "json"; cursor?: boolean; scale?: number;
  pad?: number; max_tokens?: number; rows?: [number, number]; lines?: [number, number]; region?: Json;
  gutter?: "rows" | "lines"; highlight?: Json; theme?: string | Json; if_changed_since?: number;
}
export interface Text {
  id: string; region?: "viewport" | "scrollback" | "all"; start?: number; end?: number; trim?: boolean;
  join?: boolean; first_line?: number; count?: number; command?: number | "last" | "last_failed";
}
export interface TextLines { lines: string[]; total_lines: number; first_line: number; next_line: number; wrapped?: number[]; stamp: number }
export interface Search { id: string; pattern: string; plain?: boolean; ignore_case?: boolean; last?: number; context?: number }
export interface Events { terminal?: string; types?: string[]; since?: number }
export interface Attach { id: string; role?: "view" | "edit" | "take"; name?: string; cols?: number; rows?: number; raw?: boolean }
export interface Config { id?: string; idle_timeout_ms?: number; scrollback_total_bytes?: number; take_over?: "allowed" | "refused" | "needed"; persist?: boolean }

/** A request was refused: `code` is for programs, the message for people. */
export class T4aError extends Error {
  readonly code: string;
  readonly answer: Json;
  constructor(answer: Json) {
    super(answer.error);
    this.name = "T4aError";
    this.code = answer.code;
    this.answer = answer;
  }
}

type Line = { json: Json; bytes: Buffer };
type Waiting = { resolve: (line: Line) => void; reject: (error: Error) => void };

/** One connection: lines of JSON, both ways, and bytes after some of them. */
class Connection {
  private socket: Socket;
  private chunks: Buffer[] = [];
  private header: Json | null = null;
  onLine: (line: Line) => void = () => {};
  onClose: (error: Error) => void = () => {};

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (chunk: Buffer) => this.take(chunk));
    socket.on("error", (error) => this.onClose(error));
    socket.on("close", () => this.onClose(new Error("the server closed the connection")));
  }

  static open(path: string): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connectSocket(path);
      socket.once("error", reject);
      socket.once("connect", () => {
        socket.removeListener("error", reject);
        resolve(new Connection(socket));
      });
    });
  }

  send(request: Json): void {
    this.socket.write(JSON.stringify(request) + "\n");
  }

  close(): void {
    this.socket.destroy();
  }

  private take(chunk: Buffer): void {
    this.chunks.push(chunk);
    // Joined only when something may be whole, so that a long answer is not copied again and again.
    if (this.header === null && !chunk.includes(10)) return;
    let all = Buffer.concat(this.chunks);
    for (;;) {
      if (this.header === null) {
        const end = all.indexOf(10);
        if (end < 0) break;
        const json: Json = JSON.parse(all.toString("utf8", 0, end));
        all = all.subarray(end + 1);
        if (json.ok === true && json.len > 0 && json.data_base64 === undefined) this.header = json;
        else this.onLine({ json, bytes: Buffer.alloc(0) });
      } else {
        const length: number = this.header.len;
        if (all.length < length) break;
        const json = this.header;
        this.header = null;
        this.onLine({ json, bytes: all.subarray(0, length) });
        all = all.subarray(length);
      }
    }
    this.chunks = all.length > 0 ? [all] : [];
  }
}

/** Lines that come until it is closed: iterate with `for await`; `break` closes it. */
export class Stream implements AsyncIterableIterator<Json> {
  protected connection: Connection;
  private queue: Json[] = [];
  private waiting: { resolve: (step: IteratorResult<Json>) => void; reject: (error: Error) => void }[] = [];
  private ended = false;
  private failure: Error | null = null;

  constructor(connection: Connection) {
    this.connection = connection;
    connection.onLine = ({ json }) => this.hear(json);
    connection.onClose = () => this.end();
  }

  protected hear(json: Json): void {
    if (json.ok === false) {
      this.failure = new T4aError(json);
      this.end();
      return;
    }
    const next = this.waiting.shift();
    if (next) next.resolve({ value: json, done: false });
    else this.queue.push(json);
  }

  private end(): void {
    this.ended = true;
    this.connection.close();
    for (const { resolve, reject } of this.waiting.splice(0)) {
      if (this.failure) reject(this.failure);
      else resolve({ value: undefined, done: true });
    }
  }

  next(): Promise<IteratorResult<Json>> {
    const value = this.queue.shift();
    if (value) return Promise.resolve({ value, done: false });
    if (this.failure) return Promise.reject(this.failure);
    if (this.ended) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve, reject) => this.waiting.push({ resolve, reject }));
  }

  return(): Promise<IteratorResult<Json>> {
    this.close();
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  close(): void {
    this.end();
  }
}

/** Frames of a terminal, from `attach`. What is typed and changed through it is its person's. */
export class View extends Stream {
  readonly view: number;
  readonly id: string;
  private answers: Waiting[] = [];

  constructor(connection: Connection, answer: Json) {
    super(connection);
    this.view = answer.view;
    this.id = answer.id;
  }

  protected override hear(json: Json): void {
    if (json.ok === undefined || !this.answers?.length) return super.hear(json);
    const { resolve, reject } = this.answers.shift()!;
    if (json.ok) resolve({ json, bytes: Buffer.alloc(0) });
    else reject(new T4aError(json));
  }

  private ask(request: Json): Promise<Json> {
    this.connection.send({ ...request, view: this.view });
    return new Promise((resolve, reject) => {
      this.answers.push({ resolve: ({ json }) => resolve(json), reject });
    });
  }

  keys(keys: Key[]): Promise<Json> { return this.ask({ cmd: "keys", keys }); }
  paste(text: string): Promise<Json> { return this.ask({ cmd: "paste", text }); }
  /** The command `view`. */
  change(fields: { role?: string; cols?: number; rows?: number; focused?: boolean }): Promise<Json> {
    return this.ask({ cmd: "view", ...fields });
  }
  detach(): Promise<Json> { return this.ask({ cmd: "detach" }); }
}

/** Starts the server if there is none; the path of its socket. */
export function startServer(program = "t4a"): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, ["--json", "hello"], (error, stdout) => {
      if (error) reject(error);
      else resolve(JSON.parse(stdout).socket);
    });
  });
}

/** A client with one connection for requests; streams and views have their own. */
export class T4a {
  readonly path: string;
  private connection: Connection;
  private waiting = new Map<number, Waiting>();
  private tag = 0;
  private closed: Error | null = null;

  private constructor(path: string, connection: Connection) {
    this.path = path;
    this.connection = connection;
    connection.onLine = (line) => this.hear(line);
    connection.onClose = (error) => {
      this.closed ??= error;
      for (const { reject } of this.waiting.values()) reject(error);
      this.waiting.clear();
    };
  }

  static async connect({ path, program }: { path?: string; program?: string } = {}): Promise<T4a> {
    const socket = path ?? (await startServer(program));
    return new T4a(socket, await Connection.open(socket));
  }

  close(): void {
    this.connection.close();
  }

  private hear(line: Line): void {
    const waiting = this.waiting.get(line.json.tag);
    this.waiting.delete(line.json.tag);
    if (line.json.ok) waiting?.resolve(line);
    else waiting?.reject(new T4aError(line.json));
  }

  private request(cmd: string, fields: object): Promise<Line> {
    if (this.closed) return Promise.reject(this.closed);
    const tag = ++this.tag;
    const answer = new Promise<Line>((resolve, reject) => this.waiting.set(tag, { resolve, reject }));
    this.connection.send({ ...fields, cmd, tag });
    return answer;
  }

  /** Any command by its name. */
  async ask<Answer = Json>(cmd: string, fields: object = {}): Promise<Answer> {
    return (await this.request(cmd, fields)).json as Answer;
  }

  create(fields: Create = {}) { return this.ask<Created>("create", fields); }
  /** With `dead` those that are only on disk any more: `restore` brings them back. */
  async list(fields: { dead?: boolean } = {}): Promise<Json[]> {
    const answer = await this.ask("list", fields);
    return fields.dead ? answer.dead : answer.terminals;
  }
  kill(fields: { id: string; dead?: boolean }) { return this.ask("kill", fields); }
  restore(fields: { id: string; env?: Record<string, string>; inherit_env?: boolean }) { return this.ask("restore", fields); }
  run(fields: Run) { return this.ask<Ran>("run", fields); }
  wait(fields: Wait) { return this.ask<Waited>("wait", fields); }
  look(fields: Look) { return this.ask<Looked>("look", fields); }
  send(fields: Send) { return this.ask<Typed>("send", fields); }
  keys(fields: Keys) { return this.ask<Typed>("keys", fields); }
  paste(fields: Paste) { return this.ask<Typed>("paste", fields); }
  mouse(fields: Mouse) { return this.ask("mouse", fields); }
  /** A picture: its bytes, and what the server tells of it. */
  async screenshot(fields: Screenshot): Promise<{ data: Buffer; info: Json }> {
    const { json, bytes } = await this.request("screenshot", fields);
    return { data: bytes, info: json };
  }
  text(fields: Text) { return this.ask<TextLines>("text", fields); }
  cells(fields: { id: string; first_line?: number; count?: number }) { return this.ask("cells", fields); }
  search(fields: Search) { return this.ask("search", fields); }
  cursor(fields: { id: string }) { return this.ask("cursor", fields); }
  resize(fields: { id: string; cols: number; rows: number }) { return this.ask("resize", fields); }
  config(fields: Config = {}) { return this.ask("config", fields); }
  hello() { return this.ask("hello"); }
  info(fields: { id: string }) { return this.ask("info", fields); }
  async commands(fields: { id: string; last?: number; failed?: boolean }): Promise<Json[]> {
    return (await this.ask("commands", fields)).commands;
  }
  signal(fields: { id: string; signal: string }) { return this.ask("signal", fields); }
  workspace(fields: { name: string; layout?: unknown; by?: string; dead?: boolean }) { return this.ask("workspace", fields); }
  /** Has another program take over; the connection closes after the answer. */
  upgrade(fields: { program: string }) { return this.ask("upgrade", fields); }
  shutdown() { return this.ask("shutdown"); }

  /** Into a file; `recordStream` brings it here instead. */
  record(fields: { id: string; path: string; format?: RecordFormat; input?: boolean }) { return this.ask("record", fields); }
  record_stop(fields: { recording: string }) { return this.ask("record_stop", fields); }
  async recordings(): Promise<Json[]> { return (await this.ask("recordings")).recordings; }
  /** The command `record` without a path: first its answer, then lines whose `data` make up the file. */
  async recordStream(fields: { id: string; format?: RecordFormat; input?: boolean }): Promise<Stream> {
    const connection = await Connection.open(this.path);
    const stream = new Stream(connection);
    connection.send({ ...fields, cmd: "record" });
    return stream;
  }

  /** Events as they come, on a connection of their own. */
  async events(fields: Events = {}): Promise<Stream> {
    const connection = await Connection.open(this.path);
    const stream = new Stream(connection);
    connection.send({ ...fields, cmd: "events" });
    return stream;
  }

  /** Frames of a terminal; `view`, `detach` and typing as its person are methods of it. */
  async attach(fields: Attach): Promise<View> {
    const connection = await Connection.open(this.path);
    // Frames may follow the answer at once: the view hears them from the same moment on.
    const attached = new Promise<View>((resolve, reject) => {
      connection.onClose = reject;
      connection.onLine = ({ json }) => {
        if (json.ok === false) {
          connection.close();
          reject(new T4aError(json));
        } else resolve(new View(connection, json));
      };
    });
    connection.send({ ...fields, cmd: "attach", tag: "attach" });
    return attached;
  }
  view(view: View, fields: { role?: string; cols?: number; rows?: number; focused?: boolean }) { return view.change(fields); }
  detach(view: View) { return view.detach(); }
}
