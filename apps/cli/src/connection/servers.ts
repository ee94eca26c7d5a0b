import { type ConnectString, parseConnectString } from "@zooid/client";
import { usageError } from "../cli-error.ts";

/** Parses a connect string of the user. @throws CliError with every problem */
export function readServers(text: string): ConnectString {
  try {
    return parseConnectString(text);
  } catch (error) {
    throw usageError(error instanceof Error ? error.message : String(error));
  }
}

/** Checks the connect string of an option. @throws CliError that names both */
export function checkServers(option: string, text: string): void {
  try {
    parseConnectString(text);
  } catch (error) {
    throw usageError(`${option}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
