import { expect, test } from "vitest";
import { markdownBlocks } from "./markdown-blocks.ts";

const PAGE = `# Page

## One

\`\`\`sh
# a comment, not a heading
ls
\`\`\`

text

\`\`\`text
a
\`\`\`

### Two

\`\`\`
plain
\`\`\`
`;

test("each block has its heading, its language and its line", () => {
  expect(markdownBlocks(PAGE)).toEqual([
    { heading: "One", language: "sh", text: "# a comment, not a heading\nls\n", line: 6 },
    { heading: "One", language: "text", text: "a\n", line: 13 },
    { heading: "Two", language: "", text: "plain\n", line: 19 },
  ]);
});

test("a page without blocks has none", () => {
  expect(markdownBlocks("# Page\n\ntext")).toEqual([]);
});
