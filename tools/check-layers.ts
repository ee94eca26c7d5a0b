/**
 * Reads every workspace package's declarations and imports, and prints what breaks the layering;
 * exit status 1 if anything does.
 */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { importedSpecifiers } from "./import-circles.ts";
import { type Declaration, findViolations, importViolations } from "./layers.ts";

const root = resolve(import.meta.dirname, "..");

interface PackageJson {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}
interface TsConfig {
  readonly references?: readonly { readonly path: string }[];
}

const declarations = globSync(["packages/*/package.json", "apps/*/package.json", "examples/package.json"], {
  cwd: root,
})
  .sort()
  .map(declarationOf);
const sources = globSync(
  ["{packages,apps,examples}/**/src/**/*.{ts,tsx}", "packages/console/{page,browser}/**/*.{ts,tsx}", "tools/**/*.ts"],
  {
    cwd: root,
    exclude: ["**/node_modules/**", "**/dist/**"],
  },
).sort();
const violations = [
  ...findViolations(declarations),
  ...sources.flatMap((file) => importViolations(file, importedSpecifiers(readFileSync(join(root, file), "utf8")))),
];
for (const { file, reason } of violations) console.error(`${file}: ${reason}`);
if (violations.length > 0) process.exitCode = 1;
else console.log(`${declarations.length} packages, every dependency points down`);

function declarationOf(packageFile: string): Declaration {
  const packageJson = readJson<PackageJson>(packageFile);
  const tsconfigFile = join(dirname(packageFile), "tsconfig.json");
  return {
    name: packageJson.name,
    packageFile,
    tsconfigFile,
    dependencies: Object.keys({
      ...packageJson.dependencies,
      ...packageJson.peerDependencies,
      ...packageJson.optionalDependencies,
    }),
    peers: Object.keys(packageJson.peerDependencies ?? {}).filter(
      (peer) => packageJson.peerDependenciesMeta?.[peer]?.optional !== true,
    ),
    devDependencies: Object.keys(packageJson.devDependencies ?? {}),
    references: (readJson<TsConfig>(tsconfigFile).references ?? []).map(({ path }) => nameAt(tsconfigFile, path)),
  };
}

/** The package a reference leads to, or its path where there is none. */
function nameAt(tsconfigFile: string, reference: string): string {
  const packageFile = relative(root, resolve(root, dirname(tsconfigFile), reference, "package.json"));
  return existsSync(join(root, packageFile)) ? readJson<PackageJson>(packageFile).name : reference;
}

function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(join(root, file), "utf8")) as T;
}
