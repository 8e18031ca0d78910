"""What happens by itself inside incidents. (Upper apps have receivers of their own.)"""
