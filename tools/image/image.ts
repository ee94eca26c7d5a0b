/**
 * Builds the container image by podman, and tries it: three containers with the official image's
 * variables serve kazoo; one is killed, the others are stopped, and each is replaced under load.
 *
 *     npm run tool -- image [build|test] [--tag localhost/zooid:latest] [--base IMAGE]
 *
 * Without a word it does both. Without --base a base is made from Debian's packages by debootstrap,
 * as root, with the Node.js that runs this.
 */
import { parseArgs } from "node:util";
import { buildImage } from "./build-image.ts";
import { testImage } from "./test-image.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { tag: { type: "string", default: "localhost/zooid:latest" }, base: { type: "string" } },
});
const words = positionals.length === 0 ? ["build", "test"] : positionals;
const unknown = words.filter((word) => word !== "build" && word !== "test");
if (unknown.length > 0) {
  console.error(`image: expected build or test, found ${unknown.join(" ")}`);
  process.exit(2);
}
if (words.includes("build")) {
  const bytes = await buildImage({ tag: values.tag, base: values.base });
  console.log(`${values.tag}: ${Math.round(bytes / 2 ** 20)} MiB`);
}
if (words.includes("test")) await testImage(values.tag);
