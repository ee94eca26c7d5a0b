/**
 * The exports that a package's README calls stable exist, and every package of which not all are
 * stable has the list.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  isApp,
  type PublicPackage,
  publicPackages,
  publishedExports,
  SOURCE_CONDITION,
} from "./pack/public-packages.ts";

/** Every export of these is stable: programs are written on them. */
const WHOLLY_STABLE = [
  "@zooid/client",
  "@zooid/doctor",
  "@zooid/embedded-server",
  "@zooid/java-files",
  "@zooid/recipes",
  "@zooid/simulator",
  "@zooid/testing",
  "@zooid/web-console",
];

const PACKAGES = publicPackages().filter(({ manifest }) => !isApp(manifest));

/** By entry: the names that stand in the list of its README. */
function listedIn({ directory }: PublicPackage): ReadonlyMap<string, readonly string[]> {
  const [, section = ""] = readFileSync(join(directory, "README.md"), "utf8").split("\n## Stable exports\n");
  const lines = section.split("\n").filter((line) => line.startsWith("- `"));
  return new Map(
    lines.map((line) => {
      const [entry = "", ...names] = [...line.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
      return [entry, names];
    }),
  );
}

/** The names that an entry's source exports, types included. */
function exportedBy({ directory, manifest }: PublicPackage, entry: string): readonly string[] {
  const forms = publishedExports(manifest).find(([path]) => manifest.name + path.slice(1) === entry)?.[1];
  const source = readFileSync(join(directory, forms?.[SOURCE_CONDITION] ?? ""), "utf8");
  const lists = [...source.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list = ""]) => list.split(","));
  const declared = [...source.matchAll(/^export (?:async )?(?:const|function|class|interface|type) (\w+)/gm)].map(
    ([, name]) => name,
  );
  return [...lists.map((item) => item.trim().replace(/^type /, "")), ...declared].filter((name) => name !== undefined);
}

test.each(PACKAGES.map((each) => [each.manifest.name, each] as const))(
  "the stable exports of %s exist",
  (name, each) => {
    const listed = listedIn(each);
    expect(listed.size > 0).toBe(!WHOLLY_STABLE.includes(name));
    for (const [entry, names] of listed) {
      expect(names.length).toBeGreaterThan(0);
      expect(exportedBy(each, entry)).toEqual(expect.arrayContaining([...names]));
    }
  },
);
