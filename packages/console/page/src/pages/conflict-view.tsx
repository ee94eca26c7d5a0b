import { useEffect, useRef } from "preact/hooks";
import { visible } from "../model/formats.ts";
import type { Merge } from "../model/line-merge.ts";
import { Button } from "../parts/button.tsx";
import { Diff } from "../parts/diff.tsx";
import { Icon } from "../parts/icon.tsx";

interface Version {
  readonly text: string;
  readonly version: number;
}

interface ConflictViewProps {
  /** The version that the edit began with. */
  readonly base: Version;
  readonly mine: string;
  /** The version that was written meanwhile. */
  readonly theirs: Version;
  /** Undefined where the data is no text. */
  readonly merge: Merge | undefined;
  readonly onMerge: () => void;
  readonly onMine: () => void;
  readonly onTheirs: () => void;
  readonly onEdit: () => void;
}

/** The node was written meanwhile: what each side has changed, and what to do. */
export function ConflictView({ base, mine, theirs, merge, onMerge, onMine, onTheirs, onEdit }: ConflictViewProps) {
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus(), []);
  return (
    <div class="editor conflict">
      <h2 ref={title} tabIndex={-1}>
        <Icon name="warning" /> Conflict: the node was changed while you edited it
      </h2>
      <p class="hint">
        You edited version {base.version}; it now has version {theirs.version}. Nothing was saved.
      </p>
      <div class="three-way">
        <div class="side-of">
          <h3>Base, version {base.version}</h3>
          <section class="block data" tabIndex={0} aria-label="Base">
            <pre>{visible(base.text)}</pre>
          </section>
        </div>
        <div class="side-of">
          <h3>Theirs, version {theirs.version}</h3>
          <Diff before={base.text} after={theirs.text} label="Their change" />
        </div>
        <div class="side-of">
          <h3>Yours</h3>
          <Diff before={base.text} after={mine} label="Your change" />
        </div>
      </div>
      {merge !== undefined && (
        <p class="hint">
          {merge.conflictCount === 0
            ? "The changes touch different lines: they can be merged."
            : `${merge.conflictCount === 1 ? "One place was" : `${merge.conflictCount} places were`} changed by both: a merge has both sides there, between marks.`}
        </p>
      )}
      <div class="toolbar">
        <span class="spacer" />
        {merge !== undefined && <Button text="Edit the merge" class="primary" onClick={onMerge} />}
        <Button text="Keep theirs" onClick={onTheirs} />
        <Button text={`Edit yours over version ${theirs.version}`} onClick={onEdit} />
        <Button text="Replace theirs by yours" class="danger" onClick={onMine} />
      </div>
    </div>
  );
}
