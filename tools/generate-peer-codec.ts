import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Makes `packages/wire/gen` from the `.proto` files: static code, so that nothing is built from
 * descriptors at run time. With `--check` it only says whether what is committed is what would be
 * made.
 */
const wire = join(dirname(fileURLToPath(import.meta.url)), "..", "packages", "wire");
const cli = dirname(createRequire(import.meta.url).resolve("protobufjs-cli/package.json"));
const isCheck = process.argv.includes("--check");

const code = run("pbjs", [
  ...["-t", "static-module", "-w", "esm", "--no-create", "--no-verify", "--no-convert", "--no-delimited"],
  ...["--no-service", "--no-typeurl", "-r", "zooid", join(wire, "src", "txn.proto")],
]);
const codeFile = join(wire, "gen", "txn.js");
const typesFile = join(wire, "gen", "txn.d.ts");
if (isCheck) {
  if (readFileSync(codeFile, "utf8") !== code) {
    console.error(`${codeFile} is not what txn.proto makes; run: npm run tool -- generate`);
    process.exit(1);
  }
} else {
  writeFileSync(codeFile, code);
  writeFileSync(typesFile, run("pbts", [codeFile]));
}

function run(tool: string, args: readonly string[]): string {
  return execFileSync(process.execPath, [join(cli, "bin", tool), ...args], { encoding: "utf8", maxBuffer: 2 ** 26 });
}
