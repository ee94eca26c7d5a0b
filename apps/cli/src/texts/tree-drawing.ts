/** A node of a tree to draw. */
export interface DrawnNode {
  readonly name: string;
  readonly isEphemeral: boolean;
  readonly childCount: number;
  /** The server does not let its children be listed. */
  readonly isForbidden?: boolean;
  /** Undefined where the tree was cut by depth; empty for a leaf. */
  readonly children: readonly DrawnNode[] | undefined;
}

export interface DrawOptions {
  /** How a node that ends with its session is set apart, beside its mark. */
  readonly paintEphemeral?: (text: string) => string;
}

/**
 * A tree as lines, like `tree` draws directories. An ephemeral carries `*`, a node whose children
 * are not shown their number.
 *
 *     /app (2)
 *     ├── config
 *     └── members (2)
 *         ├── a *
 *         └── b *
 */
export function drawTree(root: DrawnNode, options: DrawOptions = {}): readonly string[] {
  const lines: string[] = [label(root, options)];
  drawChildren(root, { indent: "", lines, options });
  return lines;
}

interface Drawing {
  readonly indent: string;
  readonly lines: string[];
  readonly options: DrawOptions;
}

function drawChildren(node: DrawnNode, { indent, lines, options }: Drawing): void {
  const children = node.children ?? [];
  children.forEach((child, index) => {
    const isLast = index === children.length - 1;
    lines.push(`${indent}${isLast ? "└── " : "├── "}${label(child, options)}`);
    drawChildren(child, { indent: `${indent}${isLast ? "    " : "│   "}`, lines, options });
  });
}

function label(node: DrawnNode, { paintEphemeral = String }: DrawOptions): string {
  const { name, isEphemeral, childCount, isForbidden } = node;
  if (isForbidden === true) return `${name} (not allowed)`;
  const count = childCount > 0 ? ` (${childCount})` : "";
  return isEphemeral ? `${paintEphemeral(name)} *${count}` : `${name}${count}`;
}
