import { type ServerId, serverId, type WeightedVoter } from "@zooid/model";
import type { SimRequest } from "../clients/requests.ts";
import type { Write } from "../model/tree.ts";
import { expectThat } from "./expectations.ts";
import { failureTable } from "./failure-table.ts";
import { statesOf } from "./states.ts";
import { ScenarioWorld, type WorldOptions } from "./world.ts";

/** How long a command takes: enough for a write to come to its end when nothing holds it up. */
const COMMAND_MS = 40;
const TICK_MS = 200;

/** One run of a scenario: its world, once there is one, and what was said of it. */
export class ScenarioRun {
  readonly options: WorldOptions = { voters: 3, observers: 0, electionAlg: 3, groups: undefined, server: {} };
  readonly told: Set<string> = new Set();
  /** Paths that were created by a `write`. */
  readonly paths: Set<string> = new Set();
  /** What follows is not said, since it depends on moments. */
  isSilent = false;
  #world: ScenarioWorld | undefined;
  #sentCount = 0;
  #roles = "";
  #logs = "";

  get world(): ScenarioWorld {
    this.#world ??= new ScenarioWorld(this.options);
    return this.#world;
  }

  /** @returns what follows from a command, in lines */
  perform(command: string): readonly string[] {
    const isInstant = command.startsWith("now ");
    const text = command.replace(/^now /, "");
    for (const [pattern, perform] of COMMANDS) {
      const match = pattern.exec(text);
      if (match === null) continue;
      const words = match.slice(1).map((word) => word ?? "");
      const result = perform(this, ...words);
      if (Array.isArray(result)) return result;
      if (result !== "at once" && !isInstant) this.world.run(COMMAND_MS);
      return this.#whatFollowed();
    }
    throw new Error(`nothing is known of the command "${command}"`);
  }

  #whatFollowed(): readonly string[] {
    if (this.#world === undefined) return [];
    const lines: string[] = [];
    for (const client of this.#world.clients) lines.push(...client.takeLines());
    const sent = this.#world.observations.sentLines.slice(this.#sentCount);
    this.#sentCount += sent.length;
    lines.push(...sent.filter(({ kind }) => this.told.has(kind)).map(({ text }) => text));
    if (this.isSilent) return [];
    const { roles, logs } = statesOf(this.#world);
    if (roles.join() !== this.#roles) lines.push(...roles);
    if (logs.join() !== this.#logs) lines.push(...logs);
    this.#roles = roles.join();
    this.#logs = logs.join();
    return lines;
  }
}

/** Nothing: time goes on; `at once`: it does not; lines: nothing else is said. */
// biome-ignore lint/suspicious/noConfusingVoidType: most commands have nothing to say about time
type Outcome = void | "at once" | readonly string[];
type Perform = (run: ScenarioRun, ...words: readonly string[]) => Outcome;

const COMMANDS: readonly (readonly [RegExp, Perform])[] = [
  // Before the servers start
  [/^servers (\d+)$/, ({ options }, count) => choose(() => (options.voters = Number(count)))],
  [/^observers (\d+)$/, ({ options }, count) => choose(() => (options.observers = Number(count)))],
  [/^basic election$/, ({ options }) => choose(() => (options.electionAlg = 0))],
  [/^groups (.+)$/, ({ options }, groups) => choose(() => (options.groups = groupsOf(groups ?? "")))],
  [/^counter max (\d+)$/, ({ options }, max) => choose(() => merge(options, { counterMax: Number(max) }))],
  [
    /^local sessions$/,
    ({ options }) => choose(() => place(options, { localSessions: true, localSessionsUpgrading: true })),
  ],
  [/^read-only mode$/, ({ options }) => choose(() => place(options, { readOnlyMode: true }))],
  [/^window (\d+) bytes$/, ({ options }, bytes) => choose(() => merge(options, { windowBytes: Number(bytes) }))],
  [/^run (\d+) bytes$/, ({ options }, bytes) => choose(() => merge(options, { runBytes: Number(bytes) }))],

  // Servers
  [/^elect$/, ({ world }) => elect(world)],
  [/^(?:start|restart) (s.+)$/, ({ world }, names) => each(names, (sid) => world.start(sid))],
  [
    /^crash s(\d+) after (\d+) messages from s(\d+)$/,
    ({ world }, sid, count, from) => {
      const to = idOf(sid);
      world.network.after(Number(count), idOf(from), to, () => world.later(() => world.crash(to)));
      return "at once";
    },
  ],
  [/^crash s(\d+) keeping (\d+) unsynced$/, ({ world }, sid, keep) => world.crash(idOf(sid), Number(keep))],
  [/^crash (s[^k]+)$/, ({ world }, names) => each(names, (sid) => world.crash(sid))],
  [/^wipe s(\d+)$/, ({ world }, sid) => world.wipe(idOf(sid))],
  [/^pause s(\d+)$/, ({ world }, sid) => world.up(idOf(sid)).pause()],
  [/^resume s(\d+)$/, ({ world }, sid) => world.up(idOf(sid)).resume()],
  [/^skew s(\d+) by (-?\d+) ms$/, ({ world }, sid, ms) => world.up(idOf(sid)).skewWallClock(Number(ms))],
  [/^hand over s(\d+)$/, ({ world }, sid) => handOver(world, idOf(sid))],

  // Disks
  [
    /^hold sync (s.+)$/,
    ({ world }, names) => atOnce(() => each(names, (sid) => world.observations.holdSync(sid, true))),
  ],
  [/^release sync (s.+)$/, ({ world }, names) => each(names, (sid) => world.observations.holdSync(sid, false))],
  [/^sync s(\d+)(?: (\d+))?$/, ({ world }, sid, count) => world.up(idOf(sid)).disk.letThrough(Number(count || 1))],
  [/^slow disk s(\d+) to (\d+) ms$/, ({ world }, sid, ms) => choose(() => world.slowDisk(idOf(sid), Number(ms)))],
  [/^purge (s.+)$/, ({ world }, names) => each(names, (sid) => world.up(sid).checkpoint())],
  [/^fail disk s(\d+)$/, ({ world }, sid) => world.failDisk(idOf(sid), "sync")],
  [/^fill disk s(\d+)$/, ({ world }, sid) => world.failDisk(idOf(sid), "full")],

  // The network
  [/^block s(\d+) ([>=]) s(\d+)$/, ({ world }, a, way, b) => block(world, idOf(a), idOf(b), way === "=")],
  [/^cut (.+) \| (.+)$/, ({ world }, side, other) => cut(world, side ?? "", other ?? "")],
  [/^heal$/, ({ world }) => heal(world)],
  [
    /^drop link s(\d+) s(\d+) after (\d+) messages s(\d+) > s(\d+)$/,
    ({ world }, a, b, count, from, to) => {
      world.network.after(Number(count), idOf(from), idOf(to), () => world.network.reset(idOf(a), idOf(b)));
      return "at once";
    },
  ],
  [/^drop link s(\d+) s(\d+)$/, ({ world }, a, b) => world.network.reset(idOf(a), idOf(b))],
  [/^clog s(\d+) > s(\d+) by (\d+) ms$/, ({ world }, a, b, ms) => world.network.clog(idOf(a), idOf(b), Number(ms))],
  [/^half-open s(\d+) s(\d+)$/, ({ world }, a, b) => world.network.halfOpen(idOf(a), idOf(b))],
  [/^hold s(\d+) > s(\d+)$/, ({ world }, from, to) => atOnce(() => world.network.hold(idOf(from), idOf(to)))],
  [/^release s(\d+) > s(\d+)$/, ({ world }, from, to) => world.network.letGo(idOf(from), idOf(to))],
  [
    /^deliver s(\d+) > s(\d+) (\d+) messages?$/,
    ({ world }, from, to, count) => {
      let left = Number(count);
      if (left > 0) world.network.deliver(idOf(from), idOf(to), () => --left === 0);
    },
  ],
  [
    /^deliver s(\d+) > s(\d+) until (\S+)$/,
    ({ world }, from, to, kind) => world.network.deliver(idOf(from), idOf(to), (message) => message.kind === kind),
  ],

  // Clients
  [
    /^read-only client (c\d+) at s(\d+)$/,
    ({ world }, name = "", sid) => world.client(name).connect(world.up(idOf(sid)), true),
  ],
  [/^client (c\d+) at s(\d+)$/, ({ world }, name = "", sid) => world.client(name).connect(world.up(idOf(sid)))],
  [/^move (c\d+) to s(\d+)$/, ({ world }, name = "", sid) => move(world, name, idOf(sid))],
  [/^leave (c\d+)$/, ({ world }, name = "") => world.client(name).leave()],
  [/^silence (c\d+)$/, ({ world }, name = "") => silence(world, name)],
  [
    /^create (c\d+) (\/\S*) (\S+)( ephemeral)?( sequential)?$/,
    (run, name = "", path = "", data = "", ephemeral, sequential) => {
      const write = { kind: "create", path, data, ephemeral: ephemeral !== "", sequential: sequential !== "" } as const;
      ask(run, name, { kind: "write", request: { kind: "one", write } }, `${path} = ${data}`);
    },
  ],
  [
    /^write (c\d+) (\/\S*) (\S+)$/,
    (run, name = "", path = "", data = "") => {
      const write = run.paths.has(path)
        ? ({ kind: "set", path, data, version: -1 } as const)
        : ({ kind: "create", path, data, ephemeral: false, sequential: false } as const);
      run.paths.add(path);
      ask(run, name, { kind: "write", request: { kind: "one", write } }, `${path} = ${data}`);
    },
  ],
  [
    /^delete (c\d+) (\/\S*)$/,
    (run, name = "", path = "") => {
      const write = { kind: "delete", path, version: -1 } as const;
      ask(run, name, { kind: "write", request: { kind: "one", write } }, `delete ${path}`);
    },
  ],
  [
    /^multi (c\d+) (.+)$/,
    (run, name = "", parts = "") =>
      ask(run, name, { kind: "write", request: { kind: "multi", writes: parts.split(";").map(partOf) } }, parts),
  ],
  [/^close (c\d+)$/, (run, name = "") => ask(run, name, { kind: "write", request: { kind: "close" } }, "close")],
  [
    /^read (c\d+) (\/\S*)$/,
    (run, name = "", path = "") =>
      ask(run, name, { kind: "read", read: { kind: "data", path, watch: false } }, `read ${path}`),
  ],
  [
    /^watch (c\d+) (\/\S*)$/,
    (run, name = "", path = "") =>
      ask(run, name, { kind: "read", read: { kind: "data", path, watch: true } }, `watch ${path}`),
  ],
  [
    /^children (c\d+) (\/\S*)$/,
    (run, name = "", path = "") =>
      ask(run, name, { kind: "read", read: { kind: "children", path, watch: false } }, `children ${path}`),
  ],
  [/^sync (c\d+)$/, (run, name = "") => ask(run, name, { kind: "read", read: { kind: "sync", path: "/" } }, "sync")],

  // Time, and what is said
  [/^tick (\d+)$/, ({ world }, count) => atOnce(() => world.run(Number(count) * TICK_MS))],
  [/^wait (\d+) ms$/, ({ world }, ms) => atOnce(() => world.run(Number(ms)))],
  [/^settle$/, ({ world }) => atOnce(() => world.settle())],
  [/^tell (.+)$/, ({ told }, kinds = "") => choose(() => kinds.split(" ").map((kind) => told.add(kind)))],
  [/^(silently|aloud)$/, (run, how) => choose(() => (run.isSilent = how === "silently"))],
  [
    /^expect (.+)$/,
    ({ world }, text = "") => {
      expectThat(world, text);
      return [];
    },
  ],
  [/^failures of (\d+) to (\d+) servers$/, (_, from, to) => failureTable(Number(from), Number(to))],
];

/** A choice: nothing follows from it yet. */
function choose(change: () => unknown): readonly string[] {
  change();
  return [];
}

function atOnce(act: () => unknown): "at once" {
  act();
  return "at once";
}

function merge(options: WorldOptions, more: WorldOptions["server"]): void {
  options.server = { ...options.server, ...more };
}

function place(options: WorldOptions, more: WorldOptions["server"]["ensemble"]): void {
  merge(options, { ensemble: { ...options.server.ensemble, ...more } });
}

function idOf(text: string | undefined): ServerId {
  return serverId(Number(text));
}

function sidsOf(names = ""): readonly ServerId[] {
  return names
    .trim()
    .split(/[ ,]+/)
    .map((name) => idOf(name.replace(/^s/, "")));
}

function each(names: string | undefined, act: (sid: ServerId) => void): void {
  for (const sid of sidsOf(names)) act(sid);
}

/** `1 2 3 | 4*2 5 6*0`: groups, and weights other than 1. */
function groupsOf(text: string): readonly WeightedVoter[] {
  return text.split("|").flatMap((group, index) =>
    group
      .trim()
      .split(" ")
      .map((voter) => {
        const [sid, weight = "1"] = voter.split("*");
        return { sid: idOf(sid), group: index, weight: Number(weight) };
      }),
  );
}

/** One part of a multi: `create /a x sequential`, `set /a x`, `delete /a`. */
function partOf(text: string): Write {
  const [kind, path = "", data = "", ...modes] = text.trim().split(" ");
  switch (kind) {
    case "create":
      return { kind, path, data, ephemeral: modes.includes("ephemeral"), sequential: modes.includes("sequential") };
    case "set":
      return { kind, path, data, version: -1 };
    case "delete":
      return { kind, path, version: -1 };
    default:
      throw new Error(`a multi has no part "${text}"`);
  }
}

/** Starts whoever has never started, and lets them find a leader. */
function elect(world: ScenarioWorld): "at once" {
  for (const { sid, server, lives } of world.members) if (server === undefined && lives === 0) world.start(sid);
  world.settle();
  return "at once";
}

function handOver(world: ScenarioWorld, sid: ServerId): void {
  const server = world.up(sid);
  server.input(() => {
    server.replica.zab.transferLeadership();
  });
}

function block(world: ScenarioWorld, a: ServerId, b: ServerId, isBoth: boolean): void {
  world.network.block(a, b);
  if (isBoth) world.network.block(b, a);
}

function cut(world: ScenarioWorld, side: string, other: string): void {
  for (const a of sidsOf(side)) for (const b of sidsOf(other)) block(world, a, b, true);
}

function heal({ members, network }: ScenarioWorld): void {
  network.letAllGo();
  for (const a of members) for (const b of members) if (a !== b) network.unblock(a.sid, b.sid);
}

function move(world: ScenarioWorld, name: string, sid: ServerId): void {
  const client = world.client(name);
  client.leave();
  client.connect(world.up(sid));
}

function silence(world: ScenarioWorld, name: string): void {
  world.client(name).isSilent = true;
}

function ask({ world }: ScenarioRun, name: string, request: SimRequest, text: string): void {
  world.client(name).ask(request, text, world.invariants.committed);
}
