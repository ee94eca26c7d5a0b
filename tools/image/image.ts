/**
 * Builds the container image by podman, and tries it: three containers with the official image's
 * variables serve kazoo; one is killed, the others are stopped, and each is replaced under load.
 *
 *     npm run tool -- image [build|test|compose|equal] [--tag localhost/zooid:latest] [--base IMAGE]
 *
 * Without a word it builds and tries. `compose` runs kazoo, Kafka and Solr on image/compose.yaml,
 * by podman-compose. `equal` builds a second time, without what the first build left, and compares
 * both. Without --base a base is made from Debian's packages by debootstrap, as root, with the
 * Node.js that runs this.
 */
import { parseArgs } from "node:util";
import { buildImage } from "./build-image.ts";
import { podman } from "./podman.ts";
import { testCompose } from "./test-compose.ts";
import { testImage } from "./test-image.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { tag: { type: "string", default: "localhost/zooid:latest" }, base: { type: "string" } },
});
const words = positionals.length === 0 ? ["build", "test"] : positionals;
const unknown = words.filter((word) => !["build", "test", "compose", "equal"].includes(word));
if (unknown.length > 0) {
  console.error(`image: expected build, test, compose or equal, found ${unknown.join(" ")}`);
  process.exit(2);
}
if (words.includes("build")) {
  const bytes = await buildImage({ tag: values.tag, base: values.base });
  console.log(`${values.tag}: ${Math.round(bytes / 2 ** 20)} MiB`);
}
if (words.includes("test")) await testImage(values.tag);
if (words.includes("compose")) await testCompose(values.tag);
if (words.includes("equal")) {
  const again = `${values.tag}-again`;
  await buildImage({ tag: again, base: values.base, isCached: false });
  const [first, second] = await Promise.all([values.tag, again].map(layersOf));
  await podman("rmi", again);
  const isEqual = first === second;
  console.log(isEqual ? "a second build is equal" : `a second build differs:\n${first}\n${second}`);
  process.exitCode = isEqual ? 0 : 1;
}

/** The layers of an image by their content, and its configuration. */
async function layersOf(tag: string): Promise<string> {
  return await podman("image", "inspect", "--format", "{{json .RootFS.Layers}} {{json .Config}} {{.Created}}", tag);
}
