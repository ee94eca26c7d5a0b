import { execFileSync } from "node:child_process";
import { mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Makes the `gen` folders from the `.proto` files: static code of protobufjs, so that nothing is
 * built from descriptors at run time. With `--check` it only reports code that its schema would not
 * make.
 */
const packages = join(dirname(fileURLToPath(import.meta.url)), "..", "packages");
const cli = dirname(createRequire(import.meta.url).resolve("protobufjs-cli/package.json"));

const SCHEMAS = [
  { folder: join(packages, "wire"), name: "txn" },
  { folder: join(packages, "peer-protocol"), name: "peer" },
];

const isCheck = process.argv.includes("--check");
for (const { folder, name } of SCHEMAS) {
  const schema = join(folder, "src", `${name}.proto`);
  const codeFile = join(folder, "gen", `${name}.js`);
  const code = run("pbjs", [...codeOptions(name), "--no-comments", schema]);
  if (!isCheck) {
    writeFileSync(codeFile, code);
    writeFileSync(join(folder, "gen", `${name}.d.ts`), typesOf(name, schema));
  } else if (readFileSync(codeFile, "utf8") !== code) {
    console.error(`${codeFile} is not what ${name}.proto makes; run: npm run tool -- generate`);
    process.exitCode = 1;
  }
}

/** Each schema has a root of its own: two of the same name would replace each other's types. */
function codeOptions(name: string): readonly string[] {
  return [
    ...["-t", "static-module", "-w", "esm", "-r", `zooid-${name}`, "--dependency", "protobufjs/minimal.js"],
    ...["--no-create", "--no-verify", "--no-convert", "--no-delimited", "--no-service", "--no-typeurl"],
  ];
}

/** Types are made from comments, which the code itself does without. */
function typesOf(name: string, schema: string): string {
  using temporary = mkdtempDisposableSync(join(tmpdir(), "zooid-generate-"));
  const directory = temporary.path;
  const commented = join(directory, `${name}.js`);
  writeFileSync(commented, run("pbjs", [...codeOptions(name), schema]));
  return run("pbts", ["--no-comments", commented]);
}

function run(tool: string, args: readonly string[]): string {
  return execFileSync(process.execPath, [join(cli, "bin", tool), ...args], { encoding: "utf8", maxBuffer: 2 ** 26 });
}
