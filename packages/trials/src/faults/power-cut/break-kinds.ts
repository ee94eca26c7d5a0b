import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { maybeOneOf, type OptionKind } from "@zooid/conformance/internal/tool-options";

/**
 * How the server is broken to see the power-cut test fail. `synchronous-normal`: commits are not
 * synced. `reply-before-sync`: clients are answered before the sync.
 */
export type BreakKind = "synchronous-normal" | "reply-before-sync";

/** In the environment of the server, beside `NODE_OPTIONS=--import` of `break-server.ts`. */
export const BREAK_VARIABLE = "POWER_CUT_BREAK";

/** The record is damaged, and not the server: as if no sync had ever been asked for. */
const NO_SYNC = "no-sync";

interface Break {
  /** The module of packages/txn-log that is changed: its path below `src`, without extension. */
  readonly module: string;
  /** The replaced patterns, in source and in built code alike, and their replacements. */
  readonly changes: readonly (readonly [from: RegExp, to: string])[];
}

export const BREAKS: Readonly<Record<BreakKind, Break>> = {
  "synchronous-normal": {
    module: "disk/database",
    changes: [
      [/database\.pragma\("synchronous = FULL"\);/, 'database.pragma("synchronous = NORMAL");'],
      [/expectPragma\(database, file, "synchronous", 2\);/, ""],
    ],
  },
  "reply-before-sync": {
    module: "log/log-thread",
    changes: [
      [
        /this\.#group\.commit\(\);/,
        'this.#report({ kind: "appended", done: this.#group.done, log: undefined }); this.#group.commit();',
      ],
      [/this\.#report\(\{ kind: "appended", done, log: changed \? log : undefined \}\);/, ""],
    ],
  },
};

export function isBreakKind(text: string): text is BreakKind {
  return Object.hasOwn(BREAKS, text);
}

/** `--break`, of the damage that the tools know: to the server's code, or to the record. */
export const BREAK_OPTION: OptionKind<string | undefined> = maybeOneOf([NO_SYNC, ...Object.keys(BREAKS)]);

/** The environment in which a server is broken; undefined: as it is. */
export function breakingEnvironment(kind: string | undefined): Readonly<Record<string, string>> {
  if (kind === undefined) return {};
  if (kind === NO_SYNC) return { RECORD_BREAK: kind };
  const hook = pathToFileURL(join(import.meta.dirname, "break-server.ts")).href;
  return { [BREAK_VARIABLE]: kind, NODE_OPTIONS: `--import=${hook}` };
}

/**
 * The module's code with the damage done.
 *
 * @throws where the code does not look as expected any more
 */
export function broken(kind: BreakKind, code: string): string {
  const { module, changes } = BREAKS[kind];
  let text = code;
  for (const [from, to] of changes) {
    const found = text.match(new RegExp(from, "g"))?.length ?? 0;
    if (found !== 1) throw new Error(`${kind}: ${from} matches ${module} ${found} times; it should match once`);
    text = text.replace(from, () => to);
  }
  return text;
}
