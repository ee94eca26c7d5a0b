import { type ServerId, serverId } from "@zooid/model";
import type { ScenarioWorld, WorldOptions } from "../world.ts";

/** The context that a command of a scenario acts on. */
export interface CommandContext {
  readonly options: WorldOptions;
  /** Made from the options by the first command that needs it. */
  readonly world: ScenarioWorld;
  /** The kinds of messages that the transcript shows. */
  readonly shownKinds: Set<string>;
  /** Paths that were created by a `write`. */
  readonly paths: Set<string>;
  /** The transcript shows nothing, since what follows depends on exact times. */
  isSilent: boolean;
}

/**
 * Nothing: time passes after the command; `at once`: it does not; lines: they are the whole
 * transcript of the command.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: most commands have nothing to say about time
export type Outcome = void | "at once" | readonly string[];
export type Perform = (run: CommandContext, ...words: readonly string[]) => Outcome;

/** The form of a command, and what it does with the words in it. */
export type Command = readonly [RegExp, Perform];

/** A command that only sets an option: its transcript is empty. */
export function choose(change: () => unknown): readonly string[] {
  change();
  return [];
}

export function atOnce(act: () => unknown): "at once" {
  act();
  return "at once";
}

export function idOf(text: string | undefined): ServerId {
  return serverId(Number(text));
}

export function sidsOf(names = ""): readonly ServerId[] {
  return names
    .trim()
    .split(/[ ,]+/)
    .map((name) => idOf(name.replace(/^s/, "")));
}

export function each(names: string | undefined, act: (sid: ServerId) => void): void {
  for (const sid of sidsOf(names)) act(sid);
}
