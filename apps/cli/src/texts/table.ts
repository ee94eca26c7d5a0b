/**
 * Rows as aligned columns, two blanks apart. Columns of numbers are aligned to the right.
 *
 *     SERVER           ROLE      ZXID
 *     127.0.0.1:2181   leader    0x100000003
 */
export function tableLines(
  columns: readonly { readonly title: string; readonly isNumber?: boolean }[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  const widths = columns.map(({ title }, at) => Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const lineOf = (cells: readonly string[]): string =>
    columns
      .map(({ isNumber }, at) => {
        const [cell = "", width = 0] = [cells[at], widths[at]];
        return isNumber === true ? cell.padStart(width) : cell.padEnd(width);
      })
      .join("  ")
      .trimEnd();
  return [columns.map(({ title }) => title), ...rows].map(lineOf);
}
