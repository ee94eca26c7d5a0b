import { readFileSync } from "node:fs";
import { digestMd5, type SaslMechanism } from "@zooid/client";
import { type JaasModule, parseJaas } from "@zooid/java-files";
import { usageError } from "../cli-error.ts";
import type { JavaSetting } from "./java-settings.ts";

const SECTION = "Client";
const DIGEST = /(?:^|\.)DigestLoginModule$/;

/**
 * The credentials of a JAAS login configuration: `Client { …DigestLoginModule required username="…"
 * password="…"; };`
 *
 * @param file the setting with the file's path
 * @param section the setting with another section name than `Client`
 * @returns undefined for a file without `Client`, if no other section is configured: it is for
 *   other programs
 * @throws CliError for an unreadable file or an unsupported login module
 */
export function jaasMechanism(file: JavaSetting, section: JavaSetting | undefined): SaslMechanism | undefined {
  const name = section?.value ?? SECTION;
  const module = loginModule(file, name);
  if (module === undefined && section === undefined) return undefined;
  if (module === undefined) throw usageError(`${file.value} has no section ${name}, or it cannot be read`);
  const { name: className, options } = module;
  if (!DIGEST.test(className)) {
    throw usageError(
      `${file.value}: ${className} cannot be used: DigestLoginModule is, and Kerberos is not, supported`,
    );
  }
  const [username, password] = [options.get("username"), options.get("password")];
  if (username !== undefined && password !== undefined) return digestMd5({ username, password });
  throw usageError(`${file.value}: the section ${name} has no username and password`);
}

/** The first login module of a section. */
function loginModule({ key, value, where }: JavaSetting, section: string): JaasModule | undefined {
  try {
    const sections = parseJaas(readFileSync(value, "utf8"));
    return typeof sections === "string" ? undefined : sections.get(section)?.[0];
  } catch (error) {
    throw usageError(`${where}: ${key}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
