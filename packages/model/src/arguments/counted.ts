/**
 * A number with its noun in the right number: `1 node`, `0 nodes`, `2 nodes`.
 *
 * @param many the plural, where it is not the singular with an s
 */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
