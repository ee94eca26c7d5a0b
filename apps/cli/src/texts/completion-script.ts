/** Scripts that teach a shell the program's options, commands and flags, and ask it for paths. */
import type { Command } from "../command.ts";

export interface CompletedProgram {
  readonly name: string;
  readonly commands: readonly Pick<Command, "name" | "flags" | "summary">[];
  /** Start options, with their dashes. */
  readonly options: readonly { readonly name: string; readonly takesValue: boolean }[];
}

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type ShellName = (typeof SHELLS)[number];

export function completionScript(shell: ShellName, program: CompletedProgram): string {
  switch (shell) {
    case "bash":
      return bashScript(program);
    case "zsh":
      return zshScript(program);
    case "fish":
      return fishScript(program);
  }
}

function flagsOf({ flags }: Pick<Command, "flags">): readonly string[] {
  return flags.map(({ name, isOwn }) => `${isOwn === true ? "--" : "-"}${name}`);
}

function optionNames({ options }: CompletedProgram): readonly string[] {
  return options.map(({ name }) => name);
}

/** Options whose value is the next word, with one dash and with two, as a shell's pattern. */
function valuedPattern({ options }: CompletedProgram): string {
  const names = options.filter(({ takesValue }) => takesValue).map(({ name }) => name.replace(/^--?/, ""));
  return names.flatMap((name) => [`-${name}`, `--${name}`]).join("|");
}

function flagCases({ commands }: CompletedProgram, indent: string): string {
  return commands
    .filter(({ flags }) => flags.length > 0)
    .map((command) => `${indent}${command.name}) flags="${flagsOf(command).join(" ")}" ;;`)
    .join("\n");
}

/**
 * Bash splits words at colons too, which connect strings and paths have: the line is split again
 * here, and what stands before the last colon of a word is taken off the answers.
 */
function bashScript(program: CompletedProgram): string {
  const { name, commands } = program;
  return `# Completion of ${name} for bash: eval "$(${name} completion bash)" in ~/.bashrc
_${functionName(name)}() {
  local line="\${COMP_LINE:0:COMP_POINT}" current="" command="" flags="" prefix at=1
  local -a words=() options=()
  COMPREPLY=()
  read -ra words <<<"$line"
  case "$line" in
    *[[:blank:]]) ;;
    *) current="\${words[-1]}"; unset "words[-1]" ;;
  esac
  while [ "$at" -lt "\${#words[@]}" ]; do
    case "\${words[at]}" in
      ${valuedPattern(program)})
        options+=("\${words[at]}")
        at=$((at + 1))
        [ "$at" -lt "\${#words[@]}" ] || return 0
        options+=("\${words[at]}") ;;
      -*) options+=("\${words[at]}") ;;
      *) command="\${words[at]}"; break ;;
    esac
    at=$((at + 1))
  done
  if [ -z "$command" ]; then
    case "$current" in
      -*) COMPREPLY=($(compgen -W "${optionNames(program).join(" ")}" -- "$current")) ;;
      *) COMPREPLY=($(compgen -W "${commands.map((command) => command.name).join(" ")}" -- "$current")) ;;
    esac
    return 0
  fi
  case "$current" in
    -*)
      case "$command" in
${flagCases(program, "        ")}
      esac
      COMPREPLY=($(compgen -W "$flags" -- "$current")) ;;
    /*)
      compopt -o nospace 2>/dev/null
      mapfile -t COMPREPLY < <(${name} "\${options[@]}" completion paths "$current" 2>/dev/null)
      case "$COMP_WORDBREAKS$current" in
        *:*:*) prefix="\${current%"\${current##*:}"}"; COMPREPLY=("\${COMPREPLY[@]#"$prefix"}") ;;
      esac ;;
  esac
}
complete -F _${functionName(name)} ${name}
`;
}

function zshScript(program: CompletedProgram): string {
  const { name, commands } = program;
  const described = commands.map((command) => `    ${zshQuoted(`${command.name}:${command.summary}`)}`).join("\n");
  return `#compdef ${name}
# Completion of ${name} for zsh: ${name} completion zsh > a directory of $fpath/_${name}
_${functionName(name)}() {
  local current="\${words[CURRENT]}" command="" flags="" at=2
  local -a options found commands
  while (( at < CURRENT )); do
    case "\${words[at]}" in
      ${valuedPattern(program)})
        options+=("\${words[at]}")
        (( at++ ))
        (( at < CURRENT )) || return 0
        options+=("\${(Q)words[at]}") ;;
      -*) options+=("\${words[at]}") ;;
      *) command="\${words[at]}"; break ;;
    esac
    (( at++ ))
  done
  if [[ -z "$command" ]]; then
    if [[ "$current" == -* ]]; then
      compadd -- ${optionNames(program).join(" ")}
    else
      commands=(
${described}
      )
      _describe command commands
    fi
    return 0
  fi
  case "$current" in
    -*)
      case "$command" in
${flagCases(program, "        ")}
      esac
      compadd -- \${=flags} ;;
    /*)
      found=("\${(@f)$(${name} "\${options[@]}" completion paths "\${(Q)current}" 2>/dev/null)}")
      compadd -S '' -a found ;;
  esac
}
if [ "$funcstack[1]" = "_${name}" ]; then
  _${functionName(name)} "$@"
else
  compdef _${functionName(name)} ${name}
fi
`;
}

function fishScript(program: CompletedProgram): string {
  const { name, commands, options } = program;
  const fn = `__${functionName(name)}`;
  const lines = [
    `# Completion of ${name} for fish: ${name} completion fish > ~/.config/fish/completions/${name}.fish`,
    `function ${fn}_command`,
    "  set -l words (commandline -opc)[2..]",
    "  while set -q words[1]",
    "    switch $words[1]",
    `      case ${valuedPattern(program).replaceAll("|", " ")}`,
    "        set -e words[1]",
    "      case '-*'",
    "      case '*'",
    "        echo $words[1]",
    "        return 0",
    "    end",
    "    set -e words[1]",
    "  end",
    "  return 1",
    "end",
    `function ${fn}_paths`,
    "  set -l options",
    "  set -l words (commandline -opc)[2..]",
    "  while set -q words[1]; and string match -q -- '-*' $words[1]",
    "    set -a options $words[1]",
    "    switch $words[1]",
    `      case ${valuedPattern(program).replaceAll("|", " ")}`,
    "        set -a options $words[2]",
    "        set -e words[1]",
    "    end",
    "    set -e words[1]",
    "  end",
    `  ${name} $options completion paths (commandline -ct) 2>/dev/null`,
    "end",
    `complete -c ${name} -f`,
    ...options.map((option) => {
      const value = option.takesValue ? " -x" : "";
      return `complete -c ${name} -n 'not ${fn}_command >/dev/null' -o ${option.name.replace(/^--?/, "")}${value}`;
    }),
  ];
  for (const command of commands) {
    const isChosen = `-n 'test (${fn}_command; or echo -) = ${command.name}'`;
    lines.push(
      `complete -c ${name} -n 'not ${fn}_command >/dev/null' -a ${command.name} -d ${fishQuoted(command.summary)}`,
    );
    for (const flag of command.flags) {
      const kind = flag.isOwn === true ? "-l" : "-o";
      lines.push(`complete -c ${name} ${isChosen} ${kind} ${flag.name}${flag.takesValue === true ? " -x" : ""}`);
    }
  }
  lines.push(
    `complete -c ${name} -n '${fn}_command >/dev/null; and string match -q -- "/*" (commandline -ct)' -a '(${fn}_paths)'`,
  );
  return `${lines.join("\n")}\n`;
}

function functionName(name: string): string {
  return name.replaceAll("-", "_");
}

function zshQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
