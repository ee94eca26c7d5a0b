/** Prints a table for a page of docs, row by row. */
export function printHead(...titles: readonly string[]): void {
  printRow(...titles);
  printRow(...titles.map(() => "---"));
}

export function printRow(...cells: readonly (string | number)[]): void {
  console.log(`| ${cells.join(" | ")} |`);
}
