import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "@zooid/trials/internal/processes/run";
import { type Bundler, FORMATS, type Format } from "./bundlers.ts";
import { Consumer, type ConsumerOptions } from "./consumer.ts";
import { entriesOf, type Manifest } from "./public-packages.ts";

/** Packages, and entries of theirs, that a bundle cannot have inside, and the reason. */
export const NOT_BUNDLED: ReadonlyMap<string, string> = new Map([
  ["@zooid/apache-peer", "it starts a thread from a file of its own"],
  ["@zooid/backup", "it starts a thread from a file of its own"],
  ["@zooid/embedded-server", "it starts threads from files of its own, and has an addon"],
  ["@zooid/web-console", "it serves the files of a page"],
  ["@zooid/txn-log/sqlite", "it starts threads from files of its own, and has an addon"],
]);

/**
 * Programs that use more than the names of what a package exports; each ends alone and prints its
 * last line.
 */
const PROGRAMS: ReadonlyMap<string, string> = new Map([
  [
    "@zooid/client",
    `import { createClient } from "@zooid/client";
    const zk = createClient("127.0.0.1:1");
    zk.state$.subscribe({ complete: () => console.log("done") });
    zk.watchData$("/a").subscribe({ error: () => {} });
    void zk.close();`,
  ],
  [
    "@zooid/recipes",
    `import { createClient } from "@zooid/client";
    import { LeaderLatch, Mutex } from "@zooid/recipes";
    const zk = createClient("127.0.0.1:1");
    new LeaderLatch(zk, "/leader").isLeader$.subscribe({ complete: () => console.log("done"), error: () => console.log("done") });
    new Mutex(zk, "/lock").acquire().catch(() => {});
    void zk.close();`,
  ],
  [
    "@zooid/java-files",
    `import { certificatesOf, identityOf, openKeyStore } from "@zooid/java-files";
    for (const type of ["JKS", "PKCS12"]) {
      for (const read of [identityOf, certificatesOf]) {
        try {
          read(openKeyStore(process.argv[1], { type, password: "secret" }));
        } catch (error) {
          if (/find module|createRequire|filename/.test(String(error))) console.error(error);
        }
      }
    }
    console.log("done");`,
  ],
]);

/**
 * Installs one package alone, bundles a program of it with each bundler to each format, and runs
 * what comes out in a folder with nothing else.
 *
 * @returns what failed, one sentence each
 */
export async function checkBundles(
  manifest: Manifest,
  bundlers: readonly Bundler[],
  options: ConsumerOptions,
): Promise<readonly string[]> {
  const entries = entriesOf(manifest).filter((entry) => !NOT_BUNDLED.has(entry));
  if (NOT_BUNDLED.has(manifest.name) || entries.length === 0) return [];
  const consumer = new Consumer(options);
  await consumer.install([`${manifest.name}@${manifest.version}`]);
  const program = PROGRAMS.get(manifest.name) ?? usageOf(entries);
  consumer.write("program.js", program);
  const faults: string[] = [];
  for (const bundler of bundlers) {
    for (const format of FORMATS) {
      try {
        await tryBundle(consumer, { bundler, format, options });
      } catch (error) {
        const [first] = (error instanceof Error ? error.message : String(error)).split("\n    at ");
        faults.push(`a bundle by ${bundler.name} to ${format} does not run: ${first}`);
      }
    }
  }
  return faults;
}

interface Attempt {
  readonly bundler: Bundler;
  readonly format: Format;
  readonly options: ConsumerOptions;
}

async function tryBundle(consumer: Consumer, { bundler, format, options }: Attempt): Promise<void> {
  const name = `program.${format === "esm" ? "mjs" : "cjs"}`;
  const built = join(consumer.directory, "bundles", `${bundler.name}-${format}`);
  const empty = `${options.directory}-${bundler.name}-${format}`;
  await bundler.bundle({ entry: join(consumer.directory, "program.js"), outfile: join(built, name), format });
  mkdirSync(empty, { recursive: true });
  cpSync(join(built, name), join(empty, name));
  const { stdout, stderr } = await run(options.nodeBinary, [name], empty);
  if (stderr !== "" || stdout.trimEnd().split("\n").at(-1) !== "done") {
    throw new Error(`it prints ${JSON.stringify(stdout + stderr)}, ${readFileSync(join(empty, name)).length} bytes`);
  }
}

function usageOf(entries: readonly string[]): string {
  const lines = entries.flatMap((entry, i) => [
    `import * as entry${i} from ${JSON.stringify(entry)};`,
    `if (Object.values(entry${i}).some((one) => one === undefined)) console.error(${JSON.stringify(entry)});`,
  ]);
  return `${lines.join("\n")}\nconsole.log("done");\n`;
}
