import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "@zooid/trials/internal/processes/run";
import { Consumer, type ConsumerOptions } from "./consumer.ts";
import { entriesOf, type Manifest, type PublicPackage, packageOf, ROOT } from "./public-packages.ts";
import { importsOf, pagesOf, readmeExamples } from "./readme-examples.ts";

/** The outcome of a package on one Node.js. */
export interface PackageReport {
  /** The packages that its installation brought from outside. */
  readonly outside: readonly string[];
  readonly entryCount: number;
  /** Whether its types need those of Node.js, which its user brings. */
  readonly needsNodeTypes: boolean;
  readonly exampleCount: number;
  /** The imports of its README's examples beyond the package itself. */
  readonly exampleNeeds: readonly string[];
}

/**
 * Installs one package alone; imports and type-checks all that it exports; then runs its README's
 * examples.
 *
 * @throws with what failed first
 */
export async function checkPackage(
  { manifest, directory }: PublicPackage,
  options: ConsumerOptions & { readonly nodeTypes: string },
): Promise<PackageReport> {
  const consumer = new Consumer(options);
  await consumer.install([`${manifest.name}@${manifest.version}`]);
  const outside = consumer.installed().filter((name) => !name.startsWith("@zooid/"));
  // An entry for which a peer is optional is of use to those alone who have that peer.
  await consumer.install(optionalPeersOf(manifest));

  const entries = entriesOf(manifest);
  consumer.write("usage.ts", usageOf(entries));
  // For users of CommonJS: the same with types, by `require`.
  consumer.write("required.cts", usageOf(entries));
  const needsNodeTypes = !(await compiles(consumer));
  const examples = readmeExamples(directory, pagesOf(manifest.name));
  const exampleNeeds = namesOf(examples.flatMap(importsOf)).filter((name) => name !== manifest.name);
  await consumer.install([`@types/node@${options.nodeTypes}`]);
  if (needsNodeTypes) await consumer.compile(["node"]);
  await checkNode10(consumer, usageOf(entries));
  await consumer.run("out/usage.js");
  await consumer.run("out/required.cjs");

  await consumer.install(exampleNeeds);
  for (const [i, example] of examples.entries()) consumer.write(`example-${i}.ts`, example);
  await consumer.compile(["node"]);
  for (const i of examples.keys()) await consumer.run(`out/example-${i}.js`);
  return { outside, entryCount: entries.length, needsNodeTypes, exampleCount: examples.length, exampleNeeds };
}

/**
 * The last TypeScript with resolution as before `exports`, which many programs of CommonJS are
 * still set to.
 */
const TYPESCRIPT_WITH_NODE10 = "5.9.3";

/** Compiles the same for `moduleResolution: node10`; what npm brings for that is kept in .cache. */
async function checkNode10(consumer: Consumer, usage: string): Promise<void> {
  const folder = join(ROOT, ".cache", `typescript-${TYPESCRIPT_WITH_NODE10}`);
  const compiler = join(folder, "node_modules/typescript/bin/tsc");
  if (!existsSync(compiler)) {
    mkdirSync(folder, { recursive: true });
    // npm would take the repository for the project otherwise.
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
    await run("npm", ["install", "--silent", "--no-workspaces", `typescript@${TYPESCRIPT_WITH_NODE10}`], folder);
  }
  mkdirSync(join(consumer.directory, "node10"), { recursive: true });
  consumer.write("node10/usage.ts", usage);
  const options = ["--noEmit", "--strict", "--skipLibCheck", "--types", "node", "--target", "ES2022"];
  const resolution = ["--module", "commonjs", "--moduleResolution", "node10"];
  const lib = ["--lib", "ES2024,ESNext.Disposable"];
  await run(process.execPath, [compiler, ...options, ...resolution, ...lib, "node10/usage.ts"], consumer.directory);
}

/** A program that imports every entry, and keeps its types in its own. */
function usageOf(entries: readonly string[]): string {
  const lines = entries.flatMap((entry, i) => [
    `import * as entry${i} from ${JSON.stringify(entry)};`,
    `export const names${i}: readonly (keyof typeof entry${i})[] = Object.keys(entry${i}) as (keyof typeof entry${i})[];`,
  ]);
  return `${lines.join("\n")}\n`;
}

async function compiles(consumer: Consumer): Promise<boolean> {
  try {
    await consumer.compile([]);
    return true;
  } catch {
    return false;
  }
}

function optionalPeersOf({ peerDependencies = {}, peerDependenciesMeta = {} }: Manifest): readonly string[] {
  return Object.entries(peerDependencies)
    .filter(([name]) => peerDependenciesMeta[name]?.optional === true)
    .map(([name, range]) => `${name}@${range}`);
}

function namesOf(specifiers: readonly string[]): readonly string[] {
  const names = specifiers.map(packageOf).filter((name) => name !== undefined);
  return [...new Set(names)].sort();
}
