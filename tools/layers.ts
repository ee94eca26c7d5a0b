import { dirname, join, normalize } from "node:path";

/**
 * Which package may stand on which, and what each may take from outside.
 *
 * `beneath` names the direct neighbours below, as the arrows in docs/architecture.md do; whatever
 * stands beneath those is allowed too. A package that is missing here belongs nowhere yet and is
 * reported.
 */
export interface Layer {
  readonly beneath: readonly string[];
  /** Third-party run-time dependencies; "any" only for applications, which are never imported. */
  readonly thirdParty: readonly string[] | "any";
  /**
   * The packages that its tests alone may stand on though they do not lie beneath: devDependencies
   * that users do not install.
   */
  readonly testsWith?: readonly string[];
}

const PURE: readonly string[] = [];

export const LAYERS: ReadonlyMap<string, Layer> = new Map<string, Layer>([
  ["@zooid/model", { beneath: [], thirdParty: PURE }],
  ["@zooid/wire", { beneath: ["@zooid/model"], thirdParty: PURE }],
  ["@zooid/peer-protocol", { beneath: ["@zooid/wire"], thirdParty: ["long", "protobufjs"] }],
  ["@zooid/election", { beneath: ["@zooid/model"], thirdParty: PURE }],
  ["@zooid/zab", { beneath: ["@zooid/model"], thirdParty: PURE }],
  ["@zooid/data-tree", { beneath: ["@zooid/wire"], thirdParty: PURE }],
  ["@zooid/txn-log", { beneath: ["@zooid/wire"], thirdParty: ["better-sqlite3"] }],
  ["@zooid/apache-peer", { beneath: ["@zooid/wire"], thirdParty: ["rxjs"] }],
  ["@zooid/backup", { beneath: ["@zooid/txn-log"], thirdParty: ["aws4fetch"] }],
  ["@zooid/doctor", { beneath: ["@zooid/model"], thirdParty: PURE }],
  ["@zooid/java-files", { beneath: [], thirdParty: ["jks-js", "node-forge"] }],
  ["@zooid/replica", { beneath: ["@zooid/election", "@zooid/zab", "@zooid/data-tree"], thirdParty: PURE }],
  [
    "@zooid/embedded-server",
    {
      beneath: ["@zooid/replica", "@zooid/apache-peer", "@zooid/backup", "@zooid/java-files", "@zooid/peer-protocol"],
      thirdParty: ["koffi", "node-forge", "prom-client", "rxjs", "snappyjs"],
    },
  ],
  // OpenTelemetry and prom-client, for an entry each: optional peers.
  [
    "@zooid/client",
    {
      beneath: ["@zooid/wire"],
      thirdParty: ["@opentelemetry/api", "prom-client", "rxjs"],
      testsWith: ["@zooid/embedded-server"],
    },
  ],
  ["@zooid/recipes", { beneath: ["@zooid/client"], thirdParty: ["rxjs"], testsWith: ["@zooid/embedded-server"] }],
  [
    "@zooid/web-console",
    {
      beneath: ["@zooid/client"],
      thirdParty: ["rxjs", "zod"],
      testsWith: ["@zooid/recipes", "@zooid/embedded-server"],
    },
  ],
  ["@zooid/simulator", { beneath: ["@zooid/replica", "@zooid/txn-log"], thirdParty: PURE }],
  [
    "@zooid/testing",
    { beneath: ["@zooid/client", "@zooid/simulator"], thirdParty: ["rxjs"], testsWith: ["@zooid/recipes"] },
  ],
  [
    "@zooid/conformance",
    {
      beneath: ["@zooid/recipes", "@zooid/embedded-server", "@zooid/web-console"],
      thirdParty: ["diff", "node-forge", "rxjs"],
    },
  ],
  // Programs that try whole servers and clients: above everything, applications too.
  [
    "@zooid/trials",
    {
      beneath: [
        "@zooid/apache-peer",
        "@zooid/conformance",
        "@zooid/testing",
        "zooid-bench",
        "zooid-cli",
        "zooid-server",
      ],
      thirdParty: ["fast-check", "rxjs"],
    },
  ],
  [
    "@zooid/examples",
    { beneath: ["@zooid/recipes", "@zooid/embedded-server", "@zooid/simulator"], thirdParty: ["rxjs"] },
  ],
  [
    "zooid-server",
    {
      beneath: ["@zooid/embedded-server", "@zooid/web-console", "@zooid/doctor"],
      thirdParty: "any",
      testsWith: ["@zooid/client"],
    },
  ],
  ["zooid-bench", { beneath: ["@zooid/recipes"], thirdParty: "any" }],
  [
    "zooid-cli",
    {
      beneath: ["@zooid/recipes", "@zooid/java-files", "@zooid/doctor"],
      thirdParty: "any",
      testsWith: ["@zooid/embedded-server"],
    },
  ],
  ["zooid-console", { beneath: ["@zooid/web-console"], thirdParty: "any", testsWith: ["@zooid/embedded-server"] }],
]);

/** The declarations of one workspace package, as far as layers are concerned. */
export interface Declaration {
  readonly name: string;
  /** The package.json and tsconfig.json that say so, for messages. */
  readonly packageFile: string;
  readonly tsconfigFile: string;
  /** Names under dependencies, peerDependencies and optionalDependencies. */
  readonly dependencies: readonly string[];
  /** Names under peerDependencies, without the optional ones. */
  readonly peers: readonly string[];
  /** Names under devDependencies. */
  readonly devDependencies: readonly string[];
  /** Package names that tsconfig.json references. */
  readonly references: readonly string[];
}

export interface Violation {
  readonly file: string;
  readonly reason: string;
}

export function findViolations(
  declarations: readonly Declaration[],
  layers: ReadonlyMap<string, Layer> = LAYERS,
): readonly Violation[] {
  const workspace = new Map(declarations.map((declaration) => [declaration.name, declaration]));
  return declarations.flatMap((declaration) => violationsOf(declaration, { workspace, layers }));
}

interface Context {
  readonly workspace: ReadonlyMap<string, Declaration>;
  readonly layers: ReadonlyMap<string, Layer>;
}

function violationsOf(declaration: Declaration, { workspace, layers }: Context): readonly Violation[] {
  const { name, packageFile, tsconfigFile } = declaration;
  const layer = layers.get(name);
  if (layer === undefined)
    return [{ file: packageFile, reason: `${name} has no layer yet: add it to tools/layers.ts` }];

  const violations: Violation[] = [];
  const declared = [...declaration.dependencies, ...declaration.devDependencies];
  const internal = declared.filter((dependency) => workspace.has(dependency) || dependency.startsWith("@zooid/"));
  const below = everythingBeneath(name, layers);
  for (const dependency of internal) {
    const isForTests = layer.testsWith?.includes(dependency) === true && !declaration.dependencies.includes(dependency);
    if (!below.has(dependency) && !isForTests) {
      violations.push({
        file: packageFile,
        reason: `${name} may not depend on ${dependency}, which does not stand below it`,
      });
    }
  }
  for (const dependency of declaration.dependencies) {
    if (internal.includes(dependency) || layer.thirdParty === "any" || layer.thirdParty.includes(dependency)) continue;
    const allowed = layer.thirdParty.length === 0 ? "nothing" : `only ${layer.thirdParty.join(", ")}`;
    violations.push({
      file: packageFile,
      reason: `${name} may not depend on ${dependency}: it takes ${allowed} from outside`,
    });
  }
  // A package manager may give a peer to the program alone: each package on the way to it passes it
  // on.
  for (const dependency of declaration.dependencies) {
    for (const peer of workspace.get(dependency)?.peers ?? []) {
      if (declaration.dependencies.includes(peer)) continue;
      violations.push({ file: packageFile, reason: `${name} declares ${peer}, which is a peer of ${dependency}` });
    }
  }
  for (const dependency of internal) {
    if (!declaration.references.includes(dependency)) {
      violations.push({ file: tsconfigFile, reason: `${name} depends on ${dependency} but does not reference it` });
    }
  }
  for (const reference of declaration.references) {
    if (!internal.includes(reference)) {
      violations.push({ file: tsconfigFile, reason: `${name} references ${reference} but does not depend on it` });
    }
  }
  return violations;
}

function everythingBeneath(name: string, layers: ReadonlyMap<string, Layer>): ReadonlySet<string> {
  const seen = new Set<string>();
  const waiting = [...(layers.get(name)?.beneath ?? [])];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    waiting.push(...(layers.get(next)?.beneath ?? []));
  }
  return seen;
}

/** The package that owns a file of the repository; `tools` for the repository's own programs. */
function ownerOf(file: string): string {
  const [folder = "", name = ""] = file.split("/");
  return folder === "packages" || folder === "apps" ? `${folder}/${name}` : folder;
}

/** Only these import another package's `internal/` entries; all others take its exports. */
const INTERNAL_USERS: readonly string[] = ["packages/trials", "tools"];

/**
 * Why the imports of a file break the layering: a relative path into another package, or the
 * `internal/` entry of one.
 *
 * @param file relative to the repository's root, as the result's `file`
 * @param specifiers what stands behind `import` and `from`
 */
export function importViolations(file: string, specifiers: readonly string[]): readonly Violation[] {
  const owner = ownerOf(file);
  return specifiers.flatMap((specifier): readonly Violation[] => {
    const isRelative = specifier.startsWith(".");
    const target = isRelative ? ownerOf(normalize(join(dirname(file), specifier))) : undefined;
    if (target !== undefined && target !== owner && ["packages", "apps"].includes(target.split("/")[0] ?? ""))
      return [{ file, reason: `imports ${specifier}, a file of ${target}: import one of that package's entries` }];
    if (!isRelative && /^(?:@zooid\/)?[\w-]+\/internal\//.test(specifier) && !INTERNAL_USERS.includes(owner))
      return [{ file, reason: `imports ${specifier}: only ${INTERNAL_USERS.join(" and ")} use internal entries` }];
    return [];
  });
}
