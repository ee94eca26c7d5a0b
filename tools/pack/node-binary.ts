import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./public-packages.ts";
import { run } from "./run.ts";

/** The Node.js of a version, absolute: the one that runs this, or one that npm brings into .cache. */
export async function nodeBinary(version: string): Promise<string> {
  if (process.versions.node === version) return process.execPath;
  const folder = join(ROOT, ".cache", `node-${version}`);
  const binary = join(folder, "node_modules/node/bin/node");
  if (!existsSync(binary)) {
    mkdirSync(folder, { recursive: true });
    // npm would take the repository for the project otherwise.
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, allowScripts: { node: true } }));
    await run("npm", ["install", "--silent", "--no-workspaces", "--save-exact", `node@${version}`], folder);
  }
  return binary;
}
