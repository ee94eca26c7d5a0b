import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "./run.ts";

const CACHE = join(import.meta.dirname, "../../../../.cache");

/**
 * The Node.js of a version, absolute: the one that runs this, or one that npm brings into .cache.
 */
export async function nodeBinary(version: string): Promise<string> {
  if (process.versions.node === version) return process.execPath;
  return join(await installNode(version), "bin/node");
}

/**
 * A folder with `include/node` of a version, as addons are compiled with; undefined where npm's
 * package leaves them out.
 */
export async function nodeHeaders(version: string): Promise<string | undefined> {
  const platform = process.platform === "win32" ? "win" : process.platform;
  const folder = join(await installNode(version), "node_modules", `node-${platform}-${process.arch}`);
  return existsSync(join(folder, "include/node/node.h")) ? folder : undefined;
}

async function installNode(version: string): Promise<string> {
  const folder = join(CACHE, `node-${version}`);
  const installed = join(folder, "node_modules/node");
  if (!existsSync(join(installed, "bin/node"))) {
    mkdirSync(folder, { recursive: true });
    // npm would take the repository for the project otherwise.
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, allowScripts: { node: true } }));
    await run("npm", ["install", "--silent", "--no-workspaces", "--save-exact", `node@${version}`], folder);
  }
  return installed;
}
