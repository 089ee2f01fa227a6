module berth/client

go 1.24
