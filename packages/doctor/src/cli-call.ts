import { shellWord } from "./shell-word.ts";

/**
 * The operator's way to call zooid-cli for the servers that are looked at: commands in remedies
 * repeat it, so that they can be typed as they stand.
 */
export interface CliCall {
  /** The connect string. */
  readonly servers: string;
  /** Further options, such as `-client-configuration FILE`; without secrets. */
  readonly options: readonly string[];
}

/**
 * A command line of zooid-cli.
 *
 * @param words the command; its words are quoted already
 * @param server default: the connect string
 */
export function cliCommand({ servers, options }: CliCall, words: string, server: string = servers): string {
  return ["zooid-cli", "-server", shellWord(server), ...options.map(shellWord), words].join(" ");
}

/** A call without options, for servers that the operator has named. */
export function plainCall(servers: string): CliCall {
  return { servers, options: [] };
}

/** The place of a joining server, to be filled in; quoted, since a shell ends commands at `;`. */
export function newMember(sid: number): string {
  return `'${sid}=HOST:2888:3888;2181'`;
}
