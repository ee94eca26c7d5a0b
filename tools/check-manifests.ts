/**
 * Compares the fields of the packages' own package.json that say where the repository is with the
 * root's; exit status 1 where they differ. `--write` copies them from there.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { placeOf } from "./manifest-place.ts";
import { publicPackages, ROOT, readRootManifest } from "./pack/public-packages.ts";

const root = readRootManifest();
const differing = publicPackages().filter(({ directory, manifest }) => {
  const { repository, bugs } = manifest;
  return !isDeepStrictEqual({ repository, bugs }, placeOf(root, relative(ROOT, directory)));
});

if (process.argv.includes("--write")) {
  for (const { directory } of differing) {
    const file = join(directory, "package.json");
    const { repository: _, bugs: __, ...rest } = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
    const fields = Object.entries(rest).flatMap(([name, value]) => [
      [name, value],
      ...(name === "license" ? Object.entries(placeOf(root, relative(ROOT, directory))) : []),
    ]);
    writeFileSync(file, `${JSON.stringify(Object.fromEntries(fields), null, 2)}\n`);
  }
} else if (differing.length > 0) {
  const names = differing.map(({ manifest }) => manifest.name).join(", ");
  console.error(
    `repository or bugs differ from the root's package.json (npx node tools/check-manifests.ts --write copies them): ${names}`,
  );
  process.exitCode = 1;
}
