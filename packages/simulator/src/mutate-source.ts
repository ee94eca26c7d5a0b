import { registerHooks } from "node:module";

/** A place in the source that is written otherwise, to see that somebody notices. */
export interface SourceMutation {
  /** The rule that it takes out. */
  readonly name: string;
  /** From the repository's root: `packages/zab/src/leader.ts`. */
  readonly file: string;
  /** Lines as they stand in the file, without their indentation. They stand there once. */
  readonly snippet: readonly string[];
  readonly replacement: readonly string[];
}

/** Changes a source text; throws when the snippet is gone or stands there more than once, since then it would mean something else. */
export function mutate(source: string, { name, file, snippet, replacement }: SourceMutation): string {
  if (snippet.length === 0) throw new RangeError(`the mutation "${name}" names no snippet`);
  const pattern = new RegExp(snippet.map((line) => `[ \\t]*${literal(line.trim())}[ \\t]*`).join("\\n"), "g");
  const found = [...source.matchAll(pattern)];
  if (found.length !== 1) {
    throw new RangeError(`the snippet of "${name}" stands ${found.length} times in ${file}, not once`);
  }
  return source.replace(pattern, () => replacement.join("\n"));
}

/**
 * From now on modules of this process are loaded with the mutation in them. Modules that are loaded already are not changed: import what
 * is to be tried behind this call.
 */
export function installMutation(mutation: SourceMutation): void {
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (!url.endsWith(`/${mutation.file}`)) return loaded;
      const { source } = loaded;
      if (source === undefined || source === null) throw new Error(`${url} has no source`);
      const text = typeof source === "string" ? source : new TextDecoder().decode(source);
      return { ...loaded, source: mutate(text, mutation) };
    },
  });
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
