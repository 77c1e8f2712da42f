/**
 * The scripts of `drover completion`. A script passes the line up to the cursor to `drover __complete`. Each line of
 * output is a word, a tab and a description, or `:files`.
 */

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

// Readline also splits words at = and :, and replaces only the last part. It does not quote: the script must quote
// names that hold shell characters.
const BASH = `# bash completion of drover: source <(drover completion bash)
_drover() {
  local line="\${COMP_LINE:0:COMP_POINT}" typed kept="" candidate
  typed="\${line##*[[:blank:]]}"
  case "$typed" in
    *[:=]*) kept="\${typed%[:=]*}"; kept="\${typed:0:\${#kept}+1}" ;;
  esac
  COMPREPLY=()
  while IFS= read -r candidate; do
    candidate="\${candidate%%$'\\t'*}"
    if [ "$candidate" = ":files" ]; then
      compopt -o default
    else
      case "$candidate" in *[:/]) compopt -o nospace ;; esac
      printf -v candidate %q "\${candidate#"$kept"}"
      COMPREPLY+=("$candidate")
    fi
  done < <("$1" __complete "$line" 2>/dev/null)
}
complete -F _drover drover
`;

const ZSH = `#compdef drover
# zsh completion of drover: source <(drover completion zsh), after compinit
_drover() {
  local -a lines words_found
  local line
  lines=("\${(@f)$(\${words[1]} __complete "\${(j: :)words[1,CURRENT]}" 2>/dev/null)}")
  for line in "\${lines[@]}"; do
    if [[ "$line" == ":files" ]]; then
      _files
    elif [[ -n "$line" ]]; then
      words_found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
    fi
  done
  (( \${#words_found} )) && _describe -t words drover words_found
}
if [[ "\${funcstack[1]}" == "_drover" ]]; then
  _drover "$@"
else
  compdef _drover drover
fi
`;

const FISH = `# fish completion of drover: drover completion fish | source
function __drover_complete
  for line in (drover __complete (commandline -cp) 2>/dev/null)
    if test "$line" = ":files"
      __fish_complete_path (commandline -ct)
    else
      echo $line
    end
  end
end
complete -c drover -f -a "(__drover_complete)"
`;

export function scriptOf(shell: Shell): string {
  return { bash: BASH, zsh: ZSH, fish: FISH }[shell];
}
