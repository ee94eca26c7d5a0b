import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { run } from "@zooid/trials/internal/processes/run";
import { ROOT } from "./public-packages.ts";

export type Format = "esm" | "cjs";
export const FORMATS: readonly Format[] = ["esm", "cjs"];

export interface Bundling {
  /** The program's first file, absolute. */
  readonly entry: string;
  /** To be written, absolute. */
  readonly outfile: string;
  readonly format: Format;
}

export interface Bundler {
  readonly name: string;
  /** @throws with what the bundler says */
  bundle(bundling: Bundling): Promise<void>;
}

/**
 * With the settings that their documentation gives for programs on Node.js that need no
 * node_modules.
 */
const ESBUILD = { esbuild: "0.28.2" };
const PACKAGES: Readonly<Record<string, string>> = {
  ...ESBUILD,
  rollup: "4.68.8",
  "@rollup/plugin-commonjs": "29.0.3",
  "@rollup/plugin-json": "6.1.0",
  "@rollup/plugin-node-resolve": "16.0.3",
  vite: "8.3.8",
  webpack: "5.113.0",
};

/** The part of the bundlers' interfaces that is used. */
interface Esbuild {
  build(options: object): Promise<unknown>;
}
interface Rollup {
  rollup(options: object): Promise<{ write(options: object): Promise<unknown>; close(): Promise<void> }>;
}
interface RollupPlugin {
  default(options?: object): object;
}
interface Vite {
  build(options: object): Promise<unknown>;
}
interface Webpack {
  default(options: object, done: (error: Error | null, stats?: WebpackStats) => void): void;
}
interface WebpackStats {
  hasErrors(): boolean;
  toString(options: object): string;
}

/** esbuild alone, of a fixed version, which npm brings into .cache. */
export async function loadEsbuild(): Promise<Bundler> {
  const load = loaderFrom(await install(ESBUILD));
  const esbuild = await load<Esbuild>("esbuild");
  return {
    name: "esbuild",
    async bundle({ entry, outfile, format }) {
      // A module of others that calls require needs one in a bundle of ES modules.
      const banner = { js: 'import { createRequire as r } from "node:module"; const require = r(import.meta.url);' };
      await esbuild.build({
        entryPoints: [entry],
        bundle: true,
        platform: "node",
        format,
        outfile,
        logLevel: "silent",
        ...(format === "esm" ? { banner } : {}),
      });
    },
  };
}

/** esbuild, Rollup, Vite and webpack, likewise. */
export async function loadBundlers(): Promise<readonly Bundler[]> {
  const load = loaderFrom(await install(PACKAGES));
  const rollup = await load<Rollup>("rollup");
  const nodeResolve = await load<RollupPlugin>("@rollup/plugin-node-resolve");
  const commonjs = await load<RollupPlugin>("@rollup/plugin-commonjs");
  const json = await load<RollupPlugin>("@rollup/plugin-json");
  const vite = await load<Vite>("vite");
  const webpack = await load<Webpack>("webpack");
  return [
    await loadEsbuild(),
    {
      name: "rollup",
      async bundle({ entry, outfile, format }) {
        const plugins = [nodeResolve.default({ preferBuiltins: true }), commonjs.default(), json.default()];
        const build = await rollup.rollup({ input: entry, plugins, logLevel: "silent" });
        await build.write({ file: outfile, format, inlineDynamicImports: true });
        await build.close();
      },
    },
    {
      name: "vite",
      async bundle({ entry, outfile, format }) {
        await vite.build({
          configFile: false,
          root: join(entry, ".."),
          logLevel: "silent",
          ssr: { noExternal: true, target: "node" },
          build: {
            ssr: entry,
            outDir: join(outfile, ".."),
            minify: false,
            rollupOptions: { output: { format, entryFileNames: outfile.slice(join(outfile, "..").length + 1) } },
          },
        });
      },
    },
    {
      name: "webpack",
      async bundle({ entry, outfile, format }) {
        const options = {
          mode: "none",
          target: "node22",
          entry,
          ...(format === "esm" ? { experiments: { outputModule: true } } : {}),
          output: {
            path: join(outfile, ".."),
            filename: outfile.slice(join(outfile, "..").length + 1),
            ...(format === "esm" ? { module: true, chunkFormat: "module", library: { type: "module" } } : {}),
          },
        };
        await new Promise<void>((resolve, reject) => {
          webpack.default(options, (error, stats) => {
            if (error !== null) reject(error);
            else if (stats?.hasErrors()) reject(new Error(stats.toString({ all: false, errors: true })));
            else resolve();
          });
        });
      },
    },
  ];
}

function loaderFrom(folder: string): <T>(name: string) => Promise<T> {
  const { resolve } = createRequire(join(folder, "package.json"));
  return async <T>(name: string) => (await import(pathToFileURL(resolve(name)).href)) as T;
}

async function install(packages: Readonly<Record<string, string>>): Promise<string> {
  const wanted = Object.entries(packages).map(([name, version]) => `${name}@${version}`);
  const folder = join(ROOT, ".cache", `bundlers-${wanted.join("-").replaceAll(/[^\w.]+/g, "-")}`);
  const isThere = Object.keys(packages).every((name) => existsSync(join(folder, "node_modules", name)));
  if (!isThere) {
    mkdirSync(folder, { recursive: true });
    // npm would take the repository for the project otherwise.
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
    const quiet = ["--silent", "--no-audit", "--no-fund", "--no-workspaces", "--prefer-offline"];
    await run("npm", ["install", ...quiet, ...wanted], folder);
  }
  return folder;
}
