import type { ServerId } from "@zooid/model";
import type { SimRequest } from "../../clients/requests.ts";
import type { Write } from "../../model/writes.ts";
import type { ScenarioWorld } from "../world.ts";
import { type Command, type CommandContext, idOf } from "./command.ts";

/** Commands about acts of clients. */
export const CLIENT_COMMANDS: readonly Command[] = [
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
];

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

function move(world: ScenarioWorld, name: string, sid: ServerId): void {
  const client = world.client(name);
  client.leave();
  client.connect(world.up(sid));
}

function silence(world: ScenarioWorld, name: string): void {
  world.client(name).isSilent = true;
}

function ask({ world }: CommandContext, name: string, request: SimRequest, text: string): void {
  world.client(name).ask(request, text, world.invariants.committed);
}
