/**
 * The known name that is meant by another: the same but for case and punctuation, a longer or
 * shorter form, or a few letters off.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const wanted = bare(name);
  if (wanted === "") return undefined;
  const same = known.find((other) => bare(other) === wanted);
  if (same !== undefined) return same;
  const longer = known.filter((other) => bare(other).startsWith(wanted));
  if (longer.length > 0 && wanted.length >= 3) return byLength(longer).at(0);
  return fewEditsAway(wanted, known) ?? partOf(wanted, known);
}

function fewEditsAway(wanted: string, known: readonly string[]): string | undefined {
  let nearest: string | undefined;
  let least = Math.ceil(wanted.length * 0.4) + 1;
  for (const other of known) {
    const distance = editDistance(wanted, bare(other));
    if (distance >= least) continue;
    least = distance;
    nearest = other;
  }
  return nearest;
}

/** `watchChildren` for `watch`, `persistent-sequential` for `sequential`. */
function partOf(wanted: string, known: readonly string[]): string | undefined {
  if (wanted.length < 4) return undefined;
  const shorter = known.filter((other) => bare(other).length >= 4 && wanted.startsWith(bare(other)));
  return byLength(shorter).at(-1) ?? byLength(known.filter((other) => bare(other).includes(wanted))).at(0);
}

/** The shortest first. */
function byLength(names: readonly string[]): readonly string[] {
  return [...names].sort((a, b) => a.length - b.length);
}

function bare(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

/** Number of letters to insert, delete or replace. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
