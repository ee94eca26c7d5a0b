import { accessSync, constants, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "@zooid/embedded-server";
import { type JvmFlags, jvmFlagsOf } from "../configuration/jvm-flags.ts";
import { replaceFile } from "../configuration/replace-file.ts";
import {
  BITNAMI_CONF,
  BITNAMI_VOLUME,
  type ContainerEnvironment,
  type ContainerPlan,
  planContainer,
} from "./container-plan.ts";
import { changedKeys, generatedText, isAsGenerated } from "./generated-file.ts";
import { readSecretFiles } from "./secret-files.ts";

export interface PreparedContainer {
  /** The arguments that zooid-server continues with. */
  readonly argv: readonly string[];
  /** The steps that were done, one sentence each, for the log. */
  readonly notes: readonly string[];
  /** Variables that have no effect, or another than the environment asks for. */
  readonly warnings: readonly string[];
  /** The flags for Java that the environment has. */
  readonly jvmFlags: JvmFlags;
}

const MY_ID_CHARS_SHOWN = 40;

/** Files have passwords: they are for the server's user alone. */
const PRIVATE = 0o600;

/** In the data directory, where the directory of the configuration cannot be written. */
const CONF_IN_DATA = "conf";

/**
 * Writes what a container lacks before its server starts: directories, `myid`, `zoo.cfg` and the
 * files with secrets. A `myid` that is there stays as it is, and so does a `zoo.cfg` that was not
 * generated, or was changed since.
 *
 * @throws ConfigError with everything that is wrong with the environment
 */
export function prepareContainer(
  environment: Readonly<Record<string, string | undefined>>,
  hostname: string,
): PreparedContainer {
  const plan = planWritable({
    ...readSecretFiles(environment),
    hostname,
    hasBitnamiVolume: existsSync(BITNAMI_VOLUME),
    hasBitnamiFile: existsSync(join(BITNAMI_CONF, "zoo.cfg")),
  });
  const zooCfg = join(plan.confDir, "zoo.cfg");
  const notes: string[] = [];
  const warnings = [...plan.warnings];
  for (const directory of [plan.confDir, plan.dataDir, plan.logDir]) makeDirectory(directory);
  writeMyId(plan);
  const before = textOf(zooCfg);
  if (before === undefined || isAsGenerated(before)) {
    for (const [name, text] of plan.secretFiles) write(join(plan.confDir, name), text);
    const text = generatedText(plan.zooCfg);
    if (text !== before) {
      write(zooCfg, text);
      const changed = before === undefined ? "" : `; changed: ${changedKeys(before, text).join(", ")}`;
      notes.push(`wrote ${zooCfg} from the environment${changed}`);
    }
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
 * With the data directory's own for a directory of the configuration that is read-only, unless that
 * has a configuration.
 */
function planWritable(environment: ContainerEnvironment): ContainerPlan {
  const plan = planContainer(environment);
  if (existsSync(join(plan.confDir, "zoo.cfg")) || isWritable(plan.confDir)) return plan;
  const variables = new Map(environment.variables).set("ZOO_CONF_DIR", join(plan.dataDir, CONF_IN_DATA));
  return planContainer({ ...environment, variables });
}

/** A directory that is not there can perhaps be made. */
function isWritable(directory: string): boolean {
  try {
    mkdirSync(directory, { recursive: true });
    accessSync(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function textOf(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new ConfigError([`cannot read ${file}: ${error instanceof Error ? error.message : error}`]);
  }
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
    replaceFile(file, text, PRIVATE);
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
