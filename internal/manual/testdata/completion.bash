_berth_sample() {
  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" at="" words="" word
  COMPREPLY=()
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "${at:+$at }$word" in
      "serve") at="serve" ;;
      "move") at="move" ;;
      "move up") at="move up" ;;
      "move down") at="move down" ;;
    esac
  done
  case "$prev" in
    --mode) COMPREPLY=($(compgen -W "fast slow" -- "$cur")); return ;;
    --to) COMPREPLY=($(compgen -f -- "$cur")); return ;;
  esac
  case "$at" in
    "") words="serve move --all --mode" ;;
    "serve") words="--mode" ;;
    "move") words="up down" ;;
    "move up") words="" ;;
    "move down") words="--to" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -F _berth_sample berth-sample
