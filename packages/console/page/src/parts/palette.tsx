import { useEffect, useState } from "preact/hooks";
import { api } from "../model/api.ts";
import { visible } from "../model/formats.ts";
import { childOf, goTo, parentOf } from "../model/place.ts";
import { Dialog } from "./dialog.tsx";

export interface Command {
  readonly label: string;
  readonly run: () => void;
}

interface PaletteProps {
  readonly commands: readonly Command[];
  readonly onClose: () => void;
}

const SHOWN_MAX = 12;

/** Commands by their names, and nodes by their paths, completed from the server. */
export function Palette({ commands, onClose }: PaletteProps) {
  const [text, setText] = useState("");
  const [paths, setPaths] = useState<readonly string[]>([]);
  const [selected, setSelected] = useState(0);
  useEffect(() => {
    setSelected(0);
    if (!text.startsWith("/")) return setPaths([]);
    let isCurrent = true;
    const parent = parentOf(text);
    const part = text.slice(text.lastIndexOf("/") + 1);
    api.children(parent, part === "" ? {} : { filter: part }).then(
      ({ children }) => {
        if (isCurrent) setPaths(children.slice(0, SHOWN_MAX).map(({ name }) => childOf(parent, name)));
      },
      () => isCurrent && setPaths([]),
    );
    return () => {
      isCurrent = false;
    };
  }, [text]);
  const open = (path: string): Command => ({ label: path, run: () => goTo("tree", { path }) });
  const found = text.startsWith("/")
    ? [...new Set([text.length > 1 ? text.replace(/\/$/, "") : text, ...paths])].map(open)
    : commands.filter(({ label }) => label.toLowerCase().includes(text.toLowerCase()));
  const shown = found.slice(0, SHOWN_MAX);
  const run = (command: Command | undefined): void => {
    onClose();
    command?.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const last = Math.max(0, shown.length - 1);
    if (event.key === "ArrowDown") setSelected(Math.min(last, selected + 1));
    else if (event.key === "ArrowUp") setSelected(Math.max(0, selected - 1));
    else if (event.key === "Tab" && !event.shiftKey && text.startsWith("/") && shown[selected] !== undefined) {
      setText(`${shown[selected]?.label ?? ""}/`);
    } else if (event.key === "Enter") run(shown[selected]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Go to or do" onClose={onClose}>
      <input
        class="palette-input"
        role="combobox"
        aria-label="A command, or the path of a node"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={shown.length > 0 ? `palette-${selected}` : undefined}
        placeholder="A command, or /the/path/of/a/node"
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <div id="palette-list" class="palette-list" role="listbox" aria-label="Commands and nodes">
        {shown.map((command, i) => (
          <div
            key={command.label}
            id={`palette-${i}`}
            role="option"
            tabIndex={-1}
            aria-selected={i === selected}
            onClick={() => run(command)}
            onKeyDown={onKeyDown}
          >
            {visible(command.label)}
          </div>
        ))}
      </div>
      {shown.length === 0 && <p class="hint">Nothing matches.</p>}
    </Dialog>
  );
}
