import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { run } from "@zooid/trials/internal/processes/run";
import { ROOT } from "./public-packages.ts";

export interface ConsumerOptions {
  /** To be made. */
  readonly directory: string;
  readonly nodeBinary: string;
  /** Where `@zooid` packages come from; everything else comes from wherever npm is set to. */
  readonly registryUrl: string;
}

/** An empty project outside of this repository, on a given Node.js. */
export class Consumer {
  readonly directory: string;
  /**
   * Environment of programs that are started there: this consumer's Node.js is the first that they
   * find.
   */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly #nodeBinary: string;

  constructor({ directory, nodeBinary, registryUrl }: ConsumerOptions) {
    this.directory = directory;
    this.#nodeBinary = nodeBinary;
    this.environment = { ...process.env, PATH: `${dirname(nodeBinary)}${delimiter}${process.env["PATH"] ?? ""}` };
    mkdirSync(directory, { recursive: true });
    this.write("package.json", JSON.stringify({ name: "consumer", private: true, type: "module" }));
    this.write(".npmrc", `@zooid:registry=${registryUrl}\n`);
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.directory, file), text);
  }

  /** By npm, which itself runs on this consumer's Node.js. */
  async install(wanted: readonly string[]): Promise<void> {
    if (wanted.length === 0) return;
    const quiet = ["--silent", "--no-audit", "--no-fund", "--no-workspaces", "--prefer-offline"];
    await run("npm", ["install", ...quiet, ...wanted], this.directory, this.environment);
  }

  /** Everything that lies in node_modules, by name. */
  installed(): readonly string[] {
    const modules = join(this.directory, "node_modules");
    return readdirSync(modules)
      .filter((name) => !name.startsWith("."))
      .flatMap((name) =>
        name.startsWith("@") ? readdirSync(join(modules, name)).map((one) => `${name}/${one}`) : [name],
      )
      .sort();
  }

  /** Runs a file to its end. @throws with what it printed when it fails or writes to stderr */
  async run(file: string): Promise<string> {
    const { stdout, stderr } = await run(this.#nodeBinary, [file], this.directory, this.environment);
    if (stderr !== "") throw new Error(`${file} wrote to stderr: ${stderr.trim()}`);
    return stdout;
  }

  /**
   * Runs a program of an installed package to its end. @throws with what it printed when it fails
   */
  async npx(program: string, ...args: readonly string[]): Promise<string> {
    return (await run("npx", ["--no-install", program, ...args], this.directory, this.environment)).stdout;
  }

  /**
   * Compiles `*.ts` and `*.cts` to `out`, in strict mode and with every declaration file looked
   * into, for engines that do not know `using` yet.
   *
   * @param types packages whose globals are known: none, or `node`
   * @param options compiler options that differ
   */
  async compile(types: readonly string[], options: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const compilerOptions = {
      strict: true,
      skipLibCheck: false,
      target: "ES2022",
      lib: ["ES2024", "ESNext.Disposable"],
      module: "NodeNext",
      types,
      outDir: "out",
      ...options,
    };
    this.write("tsconfig.json", JSON.stringify({ compilerOptions, include: ["*.ts", "*.cts"] }));
    await run(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc"), "--project", "."], this.directory);
  }
}
