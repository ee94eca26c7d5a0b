import type { Step } from "./page-steps.ts";

export interface HourScriptOptions {
  readonly steps: readonly Step[];
  /**
   * Where the output of step N is written: `N.log`, `N.failed` with the command that failed,
   * `N.seconds`.
   */
  readonly results: string;
  /** Files that must exist, by absolute path. */
  readonly prepared: Readonly<Record<string, string>>;
  /** A directory of the run's own. */
  readonly scratch: string;
}

/** The line that a server prints on a terminal when it is ready. */
const READY = "Try, in another terminal";
const READY_SECONDS_MAX = 60;

/**
 * A bash script that follows a page: one shell for all blocks, and a terminal of its own for each
 * server that keeps one. A server's terminal gets Ctrl-C before the next block that starts servers.
 *
 * It expects a network, a mount and a process namespace of its own, and runs in the copy of the
 * repository.
 */
export function hourScript({ steps, results, prepared, scratch }: HourScriptOptions): string {
  const lines = ["ip link set lo up", "set +m", "set -E", "server="];
  lines.push(...prepare(prepared, scratch), ...FUNCTIONS);
  for (const [index, step] of steps.entries()) {
    const file = quoted(`${results}/${index}`);
    if (step.kind === "write") {
      lines.push(`printf %s ${quoted(step.text)} > ${quoted(step.file)}`);
      continue;
    }
    const { commands, server } = step;
    if (server !== undefined || commands.includes("zooid-server")) lines.push("stop_server");
    lines.push(`at=$EPOCHREALTIME`, `trap 'printf "%s\\n" "$BASH_COMMAND" >> '${file}.failed ERR`);
    lines.push(`{\n:\n${commands}\n} > ${file}.log 2>&1`, "trap - ERR");
    if (server !== undefined) lines.push(`start_server ${quoted(server)} ${file}`);
    lines.push(`awk -v a="$at" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }' > ${file}.seconds`);
  }
  return `${lines.join("\n")}\nexit 0\n`;
}

/**
 * The machine's files stay as they are: folders that get one are copies, in this mount namespace
 * only.
 */
function prepare(prepared: HourScriptOptions["prepared"], scratch: string): readonly string[] {
  const tops = new Set(Object.keys(prepared).map((file) => `/${file.split("/")[1]}`));
  return [
    ...[...tops].flatMap((top) => [
      `cp -a ${quoted(top)} ${quoted(`${scratch}${top}`)}`,
      `mount --bind ${quoted(`${scratch}${top}`)} ${quoted(top)}`,
    ]),
    ...Object.entries(prepared).flatMap(([file, text]) => [
      `mkdir -p "$(dirname ${quoted(file)})"`,
      `printf %s ${quoted(text.replaceAll("DIRECTORY", scratch))} > ${quoted(file)}`,
    ]),
  ];
}

const FUNCTIONS = [
  "stop_server() {",
  '  [ -n "$server" ] || return 0',
  // As Ctrl-C does: each process of the terminal gets the signal.
  '  pkill -INT -s "$(pgrep -P "$server")"',
  '  wait "$server"',
  "  server=",
  "}",
  "start_server() {",
  '  script -qefc "$1" /dev/null < /dev/null >> "$2.log" 2>&1 &',
  "  server=$!",
  `  local end=$((SECONDS + ${READY_SECONDS_MAX}))`,
  `  until grep -q ${quoted(READY)} "$2.log"; do`,
  '    if ! kill -0 "$server" 2> /dev/null || [ $SECONDS -gt $end ]; then echo "$1" >> "$2.failed"; return 0; fi',
  "    sleep 0.05",
  "  done",
  "}",
] as const;

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
