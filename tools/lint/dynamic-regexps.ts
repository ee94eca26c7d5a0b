/** Files that make regular expressions at run time, and why their time is bounded all the same. */
export const DYNAMIC_REGEXPS: ReadonlyMap<string, { readonly count: number; readonly reason: string }> = new Map([
  ["apps/cli/src/commands/trees/grep.ts", { count: 1, reason: "the pattern of the user who waits for the answer" }],
  [
    "apps/cli/src/migrate/check/server-answers.ts",
    { count: 1, reason: "`^name=(-?\\d+)$` with names that are constants" },
  ],
  ["apps/cli/src/texts/name-glob.ts", { count: 1, reason: "one class of characters, for one character" }],
  ["apps/cli/src/texts/server-report.ts", { count: 1, reason: "`^name: (.*)$` with names that are constants" }],
  [
    "packages/server/src/sasl/principal-rules.ts",
    { count: 3, reason: "the operator's own rules, for principals of at most 1 KiB" },
  ],
]);
