import { EOL, homedir, hostname, release, tmpdir, userInfo } from "node:os";
import { delimiter, sep } from "node:path";
import type { AdminView } from "./admin-view.ts";

/**
 * The platform, under the names of Java's properties, which tools know. Environment variables of
 * the process are never included: they hold secrets.
 */
export function environment({
  version,
}: Pick<AdminView, "version">): readonly (readonly [name: string, value: string])[] {
  const memory = process.memoryUsage();
  const mebibytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)}MB`;
  return [
    ["zookeeper.version", version],
    ["host.name", hostname()],
    ["java.version", `Node.js ${process.versions.node}`],
    ["java.vendor", "Node.js"],
    ["java.home", process.execPath],
    ["java.class.path", "<NA>"],
    ["java.library.path", "<NA>"],
    ["java.io.tmpdir", tmpdir()],
    ["java.compiler", "<NA>"],
    ["os.name", process.platform === "linux" ? "Linux" : process.platform],
    ["os.arch", process.arch === "x64" ? "amd64" : process.arch],
    ["os.version", release()],
    ["user.name", userName()],
    ["user.home", homedir()],
    ["user.dir", process.cwd()],
    ["os.memory.free", mebibytes(memory.heapTotal - memory.heapUsed)],
    ["os.memory.max", mebibytes(memory.rss)],
    ["os.memory.total", mebibytes(memory.heapTotal)],
  ];
}

/** Java's system properties. Settings of the server itself are shown by `conf`. */
export function systemProperties(view: Pick<AdminView, "version">): { readonly [name: string]: string } {
  const kept = environment(view).filter(([name]) => /^(java|os|user)\./.test(name) && !name.startsWith("os.memory."));
  const separators = [
    ["file.encoding", "UTF-8"],
    ["file.separator", sep],
    ["line.separator", EOL],
    ["path.separator", delimiter],
  ] as const;
  return Object.fromEntries([...kept, ...separators].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The system may have no name for the process' user. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return "<NA>";
  }
}
