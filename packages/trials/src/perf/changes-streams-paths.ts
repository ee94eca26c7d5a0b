export const ROOT = "/streams";

export function subtreePath(number: number): string {
  return `${ROOT}/s${number}`;
}

/** The node of a subtree that is written. */
export function writtenPath(number: number): string {
  return `${subtreePath(number)}/written`;
}
