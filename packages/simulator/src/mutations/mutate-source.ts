import { readdirSync, readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { join, relative, sep } from "node:path";

/**
 * One change of a marked statement. A marker is a comment on a line of its own, `// rule:
 * ack-behind-sync`, before the statement that keeps this rule: source may move between files and
 * packages as long as its marker moves with it.
 */
export interface SourceEdit {
  /** The rule that the marker names. */
  readonly marker: string;
  /**
   * The replaced code, which occurs once in the marked statement. White space is ignored, so the
   * formatter may break lines anywhere. The whole statement when it is left out.
   */
  readonly found?: string;
  /** The code in its place; `$&` stands for the replaced code. */
  readonly replacement: string;
}

/** Source without one of its rules, to see that a check notices. */
export interface SourceMutation {
  readonly name: string;
  /** Made one after the other. */
  readonly edits: readonly SourceEdit[];
}

/** The repository's root. */
const ROOT = join(import.meta.dirname, "..", "..", "..", "..");
const MARKER_LINE = /^([ \t]*)\/\/ rule: ([a-z0-9-]+)$/;

/**
 * Every marker in the packages' `src` folders, and the places where it stands:
 * `packages/zab/src/leader.ts:12`.
 */
export function findMarkers(root: string = ROOT): ReadonlyMap<string, readonly string[]> {
  const places = new Map<string, string[]>();
  for (const file of sourcesOf(root)) {
    const text = readFileSync(join(root, file), "utf8");
    if (!text.includes("// rule: ")) continue;
    for (const [i, line] of text.split("\n").entries()) {
      const [, , marker] = MARKER_LINE.exec(line) ?? [];
      if (marker === undefined) continue;
      const place = `${file}:${i + 1}`;
      const known = places.get(marker);
      if (known === undefined) places.set(marker, [place]);
      else known.push(place);
    }
  }
  return places;
}

/**
 * The file that holds a marker, from the root. A marker that is missing or not unique is an error.
 */
export function fileOfMarker(marker: string, markers: ReadonlyMap<string, readonly string[]>): string {
  const places = markers.get(marker) ?? [];
  const [place, second] = places;
  if (place === undefined) {
    throw new RangeError(`no source file in packages/*/src has the comment "// rule: ${marker}" on a line of its own`);
  }
  if (second !== undefined) {
    throw new RangeError(`"// rule: ${marker}" must mark one statement, found ${places.join(" and ")}`);
  }
  return place.slice(0, place.lastIndexOf(":"));
}

/** Makes one edit in a source text that holds its marker. */
export function edit(source: string, { marker, found, replacement }: SourceEdit): string {
  const lines = source.split("\n");
  const { first, end } = statementAt(lines, marker);
  const statement = lines.slice(first, end).join("\n");
  const [from, to] = found === undefined ? [0, statement.length] : placeOf(found, statement, marker);
  const there = statement.slice(from, to);
  const changed = statement.slice(0, from) + replacement.replaceAll("$&", () => there) + statement.slice(to);
  return [...lines.slice(0, first), changed, ...lines.slice(end)].join("\n");
}

/**
 * The files that a mutation changes, from the root, with their new text.
 *
 * @param markers those of the root, which all sources are read for
 */
export function mutatedFiles(
  { name, edits }: SourceMutation,
  root: string = ROOT,
  markers: ReadonlyMap<string, readonly string[]> = findMarkers(root),
): ReadonlyMap<string, string> {
  if (edits.length === 0) throw new RangeError(`the mutation "${name}" changes nothing`);
  const files = new Map<string, string>();
  for (const each of edits) {
    const file = fileOfMarker(each.marker, markers);
    files.set(file, edit(files.get(file) ?? readFileSync(join(root, file), "utf8"), each));
  }
  return files;
}

/**
 * From now on modules of this process are loaded with the mutation in them. Modules that are loaded
 * already are not changed: import what is to be tried behind this call.
 */
export function installMutation(mutation: SourceMutation): void {
  const files = [...mutatedFiles(mutation)];
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const [, mutated] = files.find(([file]) => url.endsWith(`/${file}`)) ?? [];
      return mutated === undefined ? loaded : { ...loaded, source: mutated };
    },
  });
}

function sourcesOf(root: string): string[] {
  const packages = join(root, "packages");
  return readdirSync(packages).flatMap((name) =>
    readdirSync(join(packages, name, "src"), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
      .map((file) => relative(root, join(packages, name, "src", file)).replaceAll(sep, "/")),
  );
}

/**
 * The lines of the statement behind a marker: up to the next line that is not indented deeper, and
 * that line too where it closes what the statement opened. An `if` contains its `else`; a marker
 * before an `else` marks that branch alone.
 */
function statementAt(lines: readonly string[], marker: string): { readonly first: number; readonly end: number } {
  const at = lines.findIndex((line) => MARKER_LINE.exec(line)?.[2] === marker);
  if (at === -1) throw new RangeError(`the text has no "// rule: ${marker}"`);
  let first = at + 1;
  while (isRemark(lines[first])) first++;
  const indent = indentOf(lines[first]);
  const isBranch = /^\s*else\b/.test(lines[first] ?? "");
  let end = first + 1;
  for (;;) {
    while (lines[end]?.trim() === "" || indentOf(lines[end]) > indent) end++;
    const next = lines[end] ?? "";
    if (indentOf(next) === indent && /^\s*[})\]]/.test(next) && !/^\s*\} else\b/.test(next)) end++;
    else if (isBranch || !continues(lines, end, indent)) break;
    else end++;
  }
  return { first, end };
}

/** Whether an `else` follows, behind remarks or none. */
function continues(lines: readonly string[], from: number, indent: number): boolean {
  let at = from;
  while (isRemark(lines[at])) at++;
  return indentOf(lines[at]) === indent && /^\s*(\} )?else\b/.test(lines[at] ?? "");
}

function isRemark(line: string | undefined): boolean {
  return line !== undefined && /^\s*\/\//.test(line);
}

function indentOf(line: string | undefined): number {
  return line === undefined ? -1 : (/^\s*/.exec(line)?.[0].length ?? 0);
}

/** Where code occurs in a statement, white space ignored. */
function placeOf(found: string, statement: string, marker: string): readonly [number, number] {
  const offsets: number[] = [];
  let code = "";
  for (let i = 0; i < statement.length; i++) {
    const character = statement[i] ?? "";
    if (/\s/.test(character)) continue;
    offsets.push(i);
    code += character;
  }
  const wanted = found.replaceAll(/\s/g, "");
  const at = code.indexOf(wanted);
  const isOnce = wanted !== "" && at !== -1 && code.indexOf(wanted, at + 1) === -1;
  if (!isOnce) {
    const count = wanted === "" ? 0 : code.split(wanted).length - 1;
    throw new RangeError(
      `"${found}" must occur once in the statement behind "// rule: ${marker}", found ${count} in:\n${statement}`,
    );
  }
  return [offsets[at] ?? 0, (offsets[at + wanted.length - 1] ?? 0) + 1];
}
