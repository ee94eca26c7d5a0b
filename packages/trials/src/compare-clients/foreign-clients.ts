import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "@zooid/conformance/internal/servers/endpoint";
import { nodeHeaders } from "../processes/node-binary.ts";
import { run } from "../processes/run.ts";
import type { ClientName } from "./measured-client.ts";

export type ForeignName = Exclude<ClientName, "zooid">;

/**
 * The present versions on npm's registry. Nothing of ours may depend on them, so they are installed
 * in .cache.
 */
export const FOREIGN_VERSIONS: Readonly<Record<ForeignName, string>> = {
  "node-zookeeper-client": "1.1.3",
  zookeeper: "7.3.0",
};

/**
 * The folder of a client that is not ours. npm's `zookeeper` has no binaries for Linux and is
 * compiled here, which takes a C++ compiler, make and Python, and headers of the very Node.js that
 * will load it.
 *
 * @throws with npm's whole output where it cannot be built
 */
export async function foreignClient(name: ForeignName): Promise<string> {
  const version = FOREIGN_VERSIONS[name];
  const folder = join(ROOT, ".cache/compare-clients", `${name}-${version}-node-${process.versions.node}`);
  const installed = join(folder, "node_modules", name);
  if (!existsSync(installed)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, allowScripts: { [name]: true } }));
    const env = { ...process.env, ...(name === "zookeeper" ? await compilingEnvironment() : {}) };
    await run("npm", ["install", "--no-workspaces", "--no-audit", "--no-fund", `${name}@${version}`], folder, env);
  }
  return installed;
}

async function compilingEnvironment(): Promise<Readonly<Record<string, string>>> {
  const headers = await nodeHeaders(process.versions.node);
  return headers === undefined ? {} : { npm_config_nodedir: headers };
}
