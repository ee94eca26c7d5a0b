import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, existsSync, readdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { ROOT } from "../servers/endpoint.ts";

const CLIENTS = resolve(import.meta.dirname, "../../clients");

/** The sources of a system's programs, a folder of `clients`; `systems` has what they share. */
export function sourcesOf(system: string): string {
  return join(CLIENTS, system);
}

/**
 * Fetches a system by Maven, unless it is in the cache, and compiles its programs.
 *
 * @returns the class path of both
 */
export function compileSystem(system: string): string {
  const folder = join(ROOT, ".cache", system);
  const found = join(folder, "jars");
  const sources = sourcesOf(system);
  if (!existsSync(join(found, ".complete"))) {
    const goal = ["dependency:copy-dependencies", `-DoutputDirectory=${found}`];
    execFileSync("mvn", ["-q", "-B", "-f", join(sources, "pom.xml"), ...goal], { stdio: "inherit" });
    writeFileSync(join(found, ".complete"), "");
  }
  const files = [sources, sourcesOf("systems")].flatMap((place) =>
    readdirSync(place).flatMap((name) => (name.endsWith(".java") ? [join(place, name)] : [])),
  );
  execFileSync("javac", ["-nowarn", "-encoding", "UTF-8", "-cp", `${found}/*`, "-d", folder, ...files]);
  return `${folder}:${found}/*`;
}

/** A program that may be ended and started again, in a folder that keeps its log. */
export class JavaProgram {
  readonly #folder: string;
  readonly #args: readonly string[];
  #process: ChildProcess | undefined;

  /** @param args those of `java` */
  constructor(folder: string, args: readonly string[]) {
    this.#folder = folder;
    this.#args = args;
  }

  start(): void {
    const child = spawn("java", this.#args, { cwd: this.#folder, stdio: ["ignore", "pipe", "pipe"] });
    const log = createWriteStream(join(this.#folder, "program.log"), { flags: "a" });
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    child.on("close", () => log.end());
    process.once("exit", () => child.kill("SIGKILL"));
    this.#process = child;
  }

  /** By SIGKILL. */
  async end(): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }
}
