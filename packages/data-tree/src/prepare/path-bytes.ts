/** Where the parent's path ends: before the last slash, or after it when the parent is the root. */
export function parentEndOf(start: number, slash: number): number {
  return slash === start ? start + 1 : slash;
}

export function hasNul(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (bytes[i] === 0) return true;
  return false;
}
