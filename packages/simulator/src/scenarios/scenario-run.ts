import { CLIENT_COMMANDS } from "./commands/clients.ts";
import type { Command, CommandContext } from "./commands/command.ts";
import { ENSEMBLE_COMMANDS } from "./commands/ensemble.ts";
import { MEMBER_COMMANDS } from "./commands/members.ts";
import { NETWORK_COMMANDS } from "./commands/network.ts";
import { SERVER_COMMANDS } from "./commands/servers.ts";
import { TRANSCRIPT_COMMANDS } from "./commands/transcript.ts";
import { statesOf } from "./states.ts";
import { ScenarioWorld, type WorldOptions } from "./world.ts";

/** How long a command takes: enough for a write to complete when nothing delays it. */
const COMMAND_MS = 40;

const COMMANDS: readonly Command[] = [
  ...ENSEMBLE_COMMANDS,
  ...SERVER_COMMANDS,
  ...MEMBER_COMMANDS,
  ...NETWORK_COMMANDS,
  ...CLIENT_COMMANDS,
  ...TRANSCRIPT_COMMANDS,
];

/** One run of a scenario: its world, once there is one, and what the transcript has shown of it. */
export class ScenarioRun implements CommandContext {
  readonly options: WorldOptions = {
    voters: 3,
    observers: 0,
    joiners: 0,
    isChangeable: false,
    electionAlg: 3,
    groups: undefined,
    server: {},
  };
  readonly shownKinds: Set<string> = new Set();
  readonly paths: Set<string> = new Set();
  isSilent = false;
  #world: ScenarioWorld | undefined;
  #sentCount = 0;
  #roles = "";
  #logs = "";
  #members = "";

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
    throw new Error(`unknown command "${command}"`);
  }

  #whatFollowed(): readonly string[] {
    if (this.#world === undefined) return [];
    const lines: string[] = [];
    lines.push(...this.#world.takeChangeLines());
    for (const client of this.#world.clients) lines.push(...client.takeLines());
    const sent = this.#world.observations.sentLines.slice(this.#sentCount);
    this.#sentCount += sent.length;
    lines.push(...sent.filter(({ kind }) => this.shownKinds.has(kind)).map(({ text }) => text));
    if (this.isSilent) return [];
    const { roles, logs, members } = statesOf(this.#world);
    if (roles.join() !== this.#roles) lines.push(...roles);
    if (logs.join() !== this.#logs) lines.push(...logs);
    if (members.join() !== this.#members) lines.push(...members);
    this.#roles = roles.join();
    this.#logs = logs.join();
    this.#members = members.join();
    return lines;
  }
}
