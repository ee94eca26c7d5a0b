import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./pack/public-packages.ts";
import { TOOL_GROUPS } from "./tool-table.ts";

const TOOLS = TOOL_GROUPS.flatMap((group) => group.tools.map(({ name }) => name));

/**
 * The scripts of npm, tools, steps of CI and files of `.ci` and `tools` that shell commands name
 * and that do not exist, each as it is named.
 *
 * @param steps the names of the steps of CI
 */
export function unknownNames(commands: string, steps: readonly string[]): readonly string[] {
  return commands.split("\n").flatMap((line) => [
    ...[...line.matchAll(/npm (?:run )?([\w:-]+)(?: -- ([\w-]+))?/g)].flatMap(([command, script = "", tool = ""]) => {
      if (!command.startsWith("npm run ")) return OF_NPM.has(script) ? [] : [command];
      const workspace = / -w (\S+)/.exec(line)?.[1] ?? ".";
      if (!scriptsOf(workspace).includes(script)) return [`npm run ${script}`];
      return script === "tool" && !TOOLS.includes(tool) ? [`npm run tool -- ${tool}`] : [];
    }),
    ...[...line.matchAll(/(?<![\w./])(?:\.ci|tools)\/[\w./-]+/g)]
      .map(([file]) => file)
      .filter((file) => !existsSync(join(ROOT, file))),
    ...[...line.matchAll(/\.ci\/(?:run|nightly) [^&|;]*--(?:only|from) ([\w,-]+)/g)]
      .flatMap(([, names = ""]) => names.split(","))
      .filter((name) => !steps.includes(name)),
  ]);
}

/**
 * Commands of npm itself. `npm test` and `npm start` are scripts, which the root's package.json
 * has.
 */
const OF_NPM: ReadonlySet<string> = new Set(["ci", "install", "test", "start", "publish", "view"]);

function scriptsOf(folder: string): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8")) as { scripts: object };
  return Object.keys(scripts);
}
