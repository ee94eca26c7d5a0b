import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Manifest, ROOT, readManifest } from "./public-packages.ts";
import { ENGINES, type Origin, withoutEnding } from "./published-manifest.ts";

/**
 * The faults of the fields of a published package.json that describe the package, one sentence
 * each: author, keywords, engines, and the addresses of sources, page and reports.
 *
 * @param origin the place that the addresses must name
 */
export function metadataFaults(manifest: Manifest, origin: Origin): readonly string[] {
  const { author = "", keywords = [], engines, homepage, repository, bugs } = manifest;
  const place = withoutEnding(origin.repository);
  const contact = origin.contact.includes("@") ? bugs?.email : bugs?.url;
  return [
    ...(author === "" ? ["author is missing"] : []),
    ...(keywords.length > 1 && keywords.includes("zookeeper")
      ? []
      : [`keywords are "zookeeper" and others, found ${JSON.stringify(keywords)}`]),
    ...(new Set(keywords).size === keywords.length ? [] : [`keywords repeat: ${keywords.join(", ")}`]),
    ...expected("engines.node", ENGINES["node"], engines?.["node"]),
    ...expected("homepage", `${place}#readme`, homepage),
    ...expected("repository.type", "git", repository?.type),
    ...expected("repository.url", `git+${place}.git`, repository?.url),
    ...(isFolderOf(manifest) ? [] : [`repository.directory is the package's folder, found ${repository?.directory}`]),
    ...expected("the contact in bugs", origin.contact, contact),
    ...(bugs?.url?.startsWith("https://") ? [] : [`bugs.url is an https URL, found ${bugs?.url}`]),
  ];
}

function expected(field: string, wanted: string | undefined, found: string | undefined): readonly string[] {
  return wanted === found ? [] : [`${field} is ${wanted}, found ${found}`];
}

function isFolderOf({ name, repository }: Manifest): boolean {
  const file = join(ROOT, repository?.directory ?? "", "package.json");
  return existsSync(file) && readManifest(file).name === name;
}
