/**
 * Builds the Debian package, and tries it under systemd: installed, started, reloaded, killed, with
 * a wrong configuration, upgraded while it serves, removed and purged.
 *
 *     npm run tool -- debian [build|test] [--folder .cache/debian]
 *
 * Without a word it does both. The test needs podman, debootstrap and root: it runs Debian with
 * systemd as a container.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "../pack/public-packages.ts";
import { buildPackage, mebibytesOf } from "./build-package.ts";
import { testPackage } from "./test-package.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { folder: { type: "string", default: join(ROOT, ".cache/debian") } },
});
const words = positionals.length === 0 ? ["build", "test"] : positionals;
const unknown = words.filter((word) => word !== "build" && word !== "test");
if (unknown.length > 0) {
  console.error(`debian: expected build or test, found ${unknown.join(" ")}`);
  process.exit(2);
}
const file = await buildPackage({ folder: values.folder });
console.log(`${file}: ${mebibytesOf(file).toFixed(0)} MiB`);
if (words.includes("test")) await testPackage(file, values.folder);
