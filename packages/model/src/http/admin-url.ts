/** URLs of admin ports, as configurations and command lines name them. */
import { found } from "../arguments/found.ts";

/**
 * Why a text is not the URL of an admin port, as the end of a sentence and without the credentials
 * that it may have; undefined for such a URL. Credentials belong to requests, not to URLs, which
 * are printed, logged and kept.
 */
export function adminUrlFault(text: string): string | undefined {
  const url = URL.parse(text);
  const shown = found(withoutCredentials(text));
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:"))
    return `expected a URL such as http://host:8080, found ${shown}`;
  if (url.username === "" && url.password === "") return undefined;
  return `expected a URL without a user and a password, found ${shown}`;
}

/** The text with stars for all that may be a user and a password, to be printed. */
export function withoutCredentials(text: string): string {
  const end = text.lastIndexOf("@");
  if (end === -1) return text;
  const scheme = text.indexOf("://");
  return `${scheme === -1 || scheme > end ? "" : text.slice(0, scheme + 3)}***${text.slice(end)}`;
}
