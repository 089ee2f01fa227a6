complete -c berth-sample -f
complete -c berth-sample -n '__fish_use_subcommand' -a serve -d 'Serve.'
complete -c berth-sample -n '__fish_use_subcommand' -a move -d 'Move.'
complete -c berth-sample -n '__fish_use_subcommand' -l all -s a -d 'Everything.'
complete -c berth-sample -n '__fish_use_subcommand' -l mode -x -a 'fast slow' -d 'How it\'s done.'
complete -c berth-sample -n '__fish_seen_subcommand_from serve' -l mode -x -a 'fast slow' -d 'How it\'s done.'
complete -c berth-sample -n '__fish_seen_subcommand_from move' -a up -d 'Up.'
complete -c berth-sample -n '__fish_seen_subcommand_from move' -a down -d 'Down.'
complete -c berth-sample -n '__fish_seen_subcommand_from down' -l to -r -F -d 'Where to.'
