import { adminUrlFault } from "@zooid/model";
import type { AdminPlace } from "../admin-port.ts";
import { usageError } from "../cli-error.ts";

/** Admin ports, with commas between them. */
export function placesIn(option: string, text: string, auth: string | undefined): readonly AdminPlace[] {
  const urls = [...new Set(text.split(",").map((part) => part.trim()))];
  return urls.map((url) => {
    const fault = adminUrlFault(url);
    if (fault !== undefined) throw usageError(`${option}: ${fault}`);
    return { base: new URL(url.endsWith("/") ? url : `${url}/`), auth };
  });
}
