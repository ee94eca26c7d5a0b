import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { visible } from "../model/formats.ts";
import { parentOf } from "../model/place.ts";
import type { NodeRow, Row, TreeStore } from "../model/tree-store.ts";
import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";

const ROW_HEIGHT = 30;
const OVERSCAN = 10;
const FLASH_MS = 1_500;
const PAGE_ROWS = 15;
/** Rows that a key moves by. */
const STEPS: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: PAGE_ROWS,
  PageUp: -PAGE_ROWS,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};
/** Browsers do not draw elements of more than some ten million pixels. */
const HEIGHT_MAX = 8_000_000;

interface TreeViewProps {
  readonly store: TreeStore;
  readonly rows: readonly Row[];
  readonly selected: string;
  readonly flashes: ReadonlyMap<string, number>;
  readonly onSelect: (path: string) => void;
}

/**
 * A tree of which only the visible rows are drawn. Pages of children are read when their place
 * comes into view.
 */
export function TreeView({ store, rows, selected, flashes, onSelect }: TreeViewProps) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const [focused, setFocused] = useState(selected);
  const at = Math.max(
    0,
    rows.findIndex((row) => row.kind === "node" && row.path === focused),
  );

  useEffect(() => setFocused(selected), [selected]);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  // The selected row comes into view when it is selected, and when it is loaded.
  const isLoaded = rows[at]?.path === focused;
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null || !isLoaded) return;
    const [start, end] = [at * ROW_HEIGHT, (at + 1) * ROW_HEIGHT];
    if (start < element.scrollTop) element.scrollTop = start;
    else if (end > element.scrollTop + element.clientHeight) element.scrollTop = end - element.clientHeight;
  }, [focused, isLoaded]);

  const first = Math.max(0, Math.floor(top / ROW_HEIGHT) - OVERSCAN);
  const last = Math.min(rows.length, Math.ceil((top + height) / ROW_HEIGHT) + OVERSCAN);
  const shown = rows.slice(first, last);
  const wanted = shown.find((row) => row.kind === "more" && row.error === undefined)?.path;
  useEffect(() => {
    if (wanted !== undefined) void store.loadMore(wanted);
  }, [store, wanted, rows]);

  const move = (to: number): void => {
    const nearest = Math.min(rows.length - 1, Math.max(0, to));
    const isNode = (candidate: Row): boolean => candidate.kind === "node";
    const [before, behind] = [rows.slice(0, nearest + 1), rows.slice(nearest)];
    // Places that are not loaded are passed over, in the direction of the move where there is a
    // node.
    const row = to < at ? before.findLast(isNode) : (behind.find(isNode) ?? before.findLast(isNode));
    if (row?.kind === "node") {
      setFocused(row.path);
      onSelect(row.path);
    }
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const row = rows[at];
    if (row?.kind !== "node" || event.ctrlKey || event.metaKey || event.altKey) return;
    const { path, childCount, isExpanded } = row;
    const step = STEPS[event.key];
    if (step !== undefined) move(at + step);
    else if (event.key === "ArrowRight") {
      if (isExpanded) move(at + 1);
      else if (childCount > 0) store.expand(path);
    } else if (event.key === "ArrowLeft") {
      if (isExpanded && path !== "/") store.collapse(path);
      else if (path !== "/") onSelect(parentOf(path));
    } else if (event.key === "Enter") {
      if (childCount > 0) toggle(store, row);
    } else return;
    event.preventDefault();
  };

  return (
    <div
      ref={box}
      class="tree"
      role="tree"
      tabIndex={0}
      aria-label="Tree of nodes"
      aria-activedescendant={rows[at]?.path === focused && at >= first && at < last ? `row-${at}` : undefined}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      onKeyDown={onKeyDown}
    >
      <div
        class="tree-height"
        role="presentation"
        style={{ height: `${Math.min(HEIGHT_MAX, rows.length * ROW_HEIGHT)}px` }}
      >
        <div class="tree-rows" role="presentation" style={{ transform: `translateY(${first * ROW_HEIGHT}px)` }}>
          {shown.map((row, i) =>
            row.kind === "node" ? (
              <NodeLine
                key={row.path}
                row={row}
                id={`row-${first + i}`}
                isSelected={row.path === selected}
                isFlashing={Date.now() - (flashes.get(row.path) ?? 0) < FLASH_MS}
                onSelect={onSelect}
                store={store}
              />
            ) : (
              <MoreLine key={`more ${row.path}`} row={row} store={store} />
            ),
          )}
        </div>
      </div>
    </div>
  );
}

interface NodeLineProps {
  readonly row: NodeRow;
  readonly id: string;
  readonly isSelected: boolean;
  readonly isFlashing: boolean;
  readonly onSelect: (path: string) => void;
  readonly store: TreeStore;
}

function NodeLine({ row, id, isSelected, isFlashing, onSelect, store }: NodeLineProps) {
  const { path, name, depth, childCount, isEphemeral, isExpanded } = row;
  const isParent = childCount > 0;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree itself handles the keys
    // biome-ignore lint/a11y/useFocusableInteractive: the tree has the focus, and names its active row
    <div
      id={id}
      class={`tree-row ${isSelected ? "selected" : ""} ${isFlashing ? "flash" : ""}`}
      role="treeitem"
      aria-level={depth + 1}
      aria-selected={isSelected}
      aria-expanded={isParent ? isExpanded : undefined}
      style={{ paddingLeft: `${6 + depth * 16}px` }}
      onClick={() => onSelect(path)}
      onDblClick={() => isParent && toggle(store, row)}
    >
      <span
        class={`twist ${isParent ? "" : "leaf"} ${isExpanded ? "open" : ""}`}
        aria-hidden="true"
        onClick={(event) => {
          event.stopPropagation();
          if (isParent) toggle(store, row);
        }}
      >
        {isParent && <Icon name="chevron" />}
      </span>
      <span class="tree-name">{visible(name)}</span>
      {isEphemeral && (
        <span class="tag" title="Ephemeral">
          <span class="hidden">, ephemeral</span>
          <Icon name="bolt" />
        </span>
      )}
      {isParent && (
        <span class="count">
          <span class="hidden">, children: </span>
          {childCount.toLocaleString()}
        </span>
      )}
    </div>
  );
}

function MoreLine({ row, store }: { readonly row: Row & { readonly kind: "more" }; readonly store: TreeStore }) {
  const { path, depth, error, restCount } = row;
  return (
    <div
      class="tree-row more"
      role="treeitem"
      tabIndex={-1}
      aria-level={depth + 1}
      style={{ paddingLeft: `${26 + depth * 16}px` }}
    >
      {error === undefined ? (
        <span class="hint">{restCount > 0 ? `${restCount.toLocaleString()} more…` : "Loading…"}</span>
      ) : (
        <>
          <span class="failure-text">{visible(error)}</span>
          <Button text="Try again" tabIndex={-1} onClick={() => void store.loadMore(path)} />
        </>
      )}
    </div>
  );
}

function toggle(store: TreeStore, { path, isExpanded }: NodeRow): void {
  if (isExpanded) store.collapse(path);
  else store.expand(path);
}
