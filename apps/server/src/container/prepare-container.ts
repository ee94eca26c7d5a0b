import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "@zooid/embedded-server";
import { type JvmFlags, jvmFlagsOf } from "../configuration/jvm-flags.ts";
import { type ContainerPlan, planContainer } from "./container-plan.ts";
import { readSecretFiles } from "./secret-files.ts";

export interface PreparedContainer {
  /** The arguments that zooid-server continues with. */
  readonly argv: readonly string[];
  /** What was done, one sentence each, for the log. */
  readonly notes: readonly string[];
  /** What has no effect, or another than the environment says. */
  readonly warnings: readonly string[];
  /** The flags for Java that the environment has. */
  readonly jvmFlags: JvmFlags;
}

const MY_ID_CHARS_SHOWN = 40;

/** Files have passwords: they are for the server's user alone. */
const PRIVATE = 0o600;

/**
 * Writes what a container lacks before its server starts: directories, `myid`, `zoo.cfg` and the
 * files with secrets. A `zoo.cfg` and a `myid` that are there stay as they are.
 *
 * @throws ConfigError with everything that is wrong with the environment
 */
export function prepareContainer(
  environment: Readonly<Record<string, string | undefined>>,
  hostname: string,
): PreparedContainer {
  const plan = planContainer({ ...readSecretFiles(environment), hostname });
  const zooCfg = join(plan.confDir, "zoo.cfg");
  const notes: string[] = [];
  const warnings = [...plan.warnings];
  for (const directory of [plan.confDir, plan.dataDir, plan.logDir]) makeDirectory(directory);
  writeMyId(plan);
  if (!existsSync(zooCfg)) {
    for (const [name, text] of plan.secretFiles) write(join(plan.confDir, name), text);
    write(zooCfg, plan.zooCfg);
    notes.push(`wrote ${zooCfg} from the environment`);
  } else if (plan.names.length > 0) {
    warnings.push(`${zooCfg} exists and is used as it is; without effect: ${plan.names.join(", ")}`);
  }
  return {
    argv: [zooCfg, ...(plan.logLevel === undefined ? [] : ["--log-level", plan.logLevel])],
    notes,
    warnings,
    jvmFlags: jvmFlagsOf(environment, "container"),
  };
}

/**
 * Where the environment names another server than the data do, these are another member's: with
 * them it would vote in that one's place.
 */
function writeMyId({ dataDir, myId, myIdFrom }: ContainerPlan): void {
  const file = join(dataDir, "myid");
  if (!existsSync(file)) {
    write(file, `${myId}\n`);
    return;
  }
  const found = readMyId(file);
  if (myIdFrom === undefined || Number(found) === Number(myId)) return;
  throw new ConfigError([
    `${myIdFrom} names server ${myId}, and ${file} names server ${found.slice(0, MY_ID_CHARS_SHOWN)}: mount the data of server ${myId}, or correct the variable`,
  ]);
}

function readMyId(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new ConfigError([`cannot read ${file}: ${error instanceof Error ? error.message : error}`]);
  }
}

function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true });
  } catch (error) {
    throw notWritable(directory, error);
  }
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text, { mode: PRIVATE });
    // A file that was there keeps its mode otherwise.
    chmodSync(file, PRIVATE);
  } catch (error) {
    throw notWritable(file, error);
  }
}

function notWritable(path: string, error: unknown): ConfigError {
  return new ConfigError([
    `cannot write ${path} as user ${process.getuid?.() ?? "?"}: ${error instanceof Error ? error.message : error}; ` +
      "mount a volume there that this user owns",
  ]);
}
